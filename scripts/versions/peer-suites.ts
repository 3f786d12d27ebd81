/**
 * Runs the suites of the official products against a running Heddle, from checkouts that the caller has:
 *
 *     node --import tsx scripts/versions/peer-suites.ts --langgraphjs DIR --langgraph DIR --langsmith-sdk DIR [--only NAME]… [--keep]
 *
 * Each suite is copied to a temporary directory, its packages are installed at their newest published versions, its
 * server is replaced by `heddle dev` (or the trace platform) with the suite's own graphs, and its runner's report is
 * read. Prints counts, and each failure with its reason in `peer-suites/known-failures.ts`. Exits with 1 when a failure
 * has no known reason, or a known one passes.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { alwaysFails, reasonFor } from "./peer-suites/known-failures.ts";
import { langGraphSuites } from "./peer-suites/langgraph.ts";
import { langGraphJsSuites } from "./peer-suites/langgraphjs.ts";
import { langSmithSuites } from "./peer-suites/langsmith.ts";
import type { Suite } from "./peer-suites/suite.ts";

const USAGE = `usage: node --import tsx scripts/versions/peer-suites.ts [options]

  --langgraphjs DIR     a checkout of langgraphjs: api, auth, transport, stream-sdk, and the browser suites of the SDKs
  --langgraph DIR       a checkout of langgraph: integration tests of its SDK for Python
  --langsmith-sdk DIR   a checkout of langsmith-sdk: integration tests of both SDKs, with keys required
  --only NAME           only this suite; may be repeated
  --keep                keep the temporary directories
  --list                list the suites`;

const { values } = parseArgs({
  options: {
    langgraphjs: { type: "string" },
    langgraph: { type: "string" },
    "langsmith-sdk": { type: "string" },
    only: { type: "string", multiple: true },
    keep: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const all: readonly [Suite[], string | undefined][] = [
  [langGraphJsSuites, values.langgraphjs],
  [langGraphSuites, values.langgraph],
  [langSmithSuites, values["langsmith-sdk"]],
];
const names = all.flatMap(([suites]) => suites.map(({ name }) => name));
if (values.help || values.list) {
  console.log(values.list ? names.join("\n") : USAGE);
  process.exit();
}
const unknown = (values.only ?? []).filter((name) => !names.includes(name));
const chosen = all.flatMap(([suites, checkout]) =>
  checkout === undefined
    ? []
    : suites
        .filter(({ name }) => !values.only || values.only.includes(name))
        .map((suite) => ({ suite, checkout: resolve(checkout) })),
);
const missing = chosen.find(({ checkout }) => !existsSync(checkout));
if (unknown.length > 0 || missing || chosen.length === 0) {
  if (unknown.length > 0) console.error(`Unknown suite: ${unknown.join(", ")}. Suites: ${names.join(", ")}`);
  else if (missing) console.error(`No such directory: ${missing.checkout}`);
  else console.error(USAGE);
  process.exit(2);
}

const lines: string[] = [];
let unexplained = 0;
for (const { suite, checkout } of chosen) {
  console.log(`\n== ${suite.name}`);
  const directory = mkdtempSync(join(tmpdir(), `heddle-peer-${suite.name}-`));
  try {
    const tests = await suite.run({ checkout, directory });
    const count = (status: string) => tests.filter((test) => test.status === status).length;
    const failures = tests
      .filter(({ status }) => status === "failed")
      .map((test) => ({ ...test, reason: reasonFor(suite.name, test.name) }));
    const ours = failures.filter(({ reason }) => reason === undefined);
    for (const { name, reason, message } of failures) {
      console.log(`  FAILED ${name}\n         ${reason ? `known: ${reason}` : `OURS: ${message}`}`);
    }
    const unexpected = tests.filter(({ name, status }) => status === "passed" && alwaysFails(suite.name, name));
    for (const { name } of unexpected) console.log(`  PASSED ${name}\n         known to fail: remove it from the list`);
    unexplained += ours.length + unexpected.length;
    const known = failures.length - ours.length;
    lines.push(
      `${suite.name.padEnd(22)} ${count("passed")} passed, ${ours.length} failed, ${known} failed for a known reason, ${count("skipped")} skipped`,
    );
    if (tests.length === 0) throw new Error("the suite reported no test");
  } catch (error) {
    unexplained += 1;
    lines.push(`${suite.name.padEnd(22)} did not run: ${(error as Error).message.split("\n")[0]}`);
    console.error(error);
  } finally {
    if (values.keep) console.log(`kept ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
}
console.log(`\n${lines.join("\n")}`);
process.exitCode = unexplained > 0 ? 1 : 0;
