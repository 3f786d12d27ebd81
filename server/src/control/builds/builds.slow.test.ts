/** Builds that must fail: each ends as BUILD_FAILED, reports the reason, and leaves nothing behind. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { expect, test, vi } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  type TarEntry,
  untilStatus,
} from "../../../test/deploy.ts";
import { commandsWith } from "../../../test/processes-of.ts";

const { call, dataDir } = await testControlPlane({
  HEDDLE_UNPACK_MAX_MB: "3",
  HEDDLE_UNPACK_MAX_ENTRIES: "50",
  HEDDLE_BUILD_LOG_MB: "1",
  HEDDLE_BUILD_SECONDS: "6",
  HEDDLE_BUILD_CONCURRENCY: "2",
});
const id = await createDeployment(call, "broken");
const project = Object.entries(graphProject("x")).map(([path, text]): TarEntry => ({ path, text }));
const builds = () => readdirSync(join(dataDir, "control", "builds"));

async function failing(archive: Buffer, config: object = {}): Promise<{ message: string; log: string[] }> {
  const revision = await deployArchive(call, id, archive, { source_config: config });
  await untilStatus(call, id, revision, "BUILD_FAILED");
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
  return { message: json.status_message, log: await logLines(call, id, revision, "build") };
}

let createdCount = 0;

const OUTSIDE = join(dataDir, "stolen");

test.each<[string, TarEntry[], string]>([
  ["a path with leading ..", [{ path: "../../../../stolen", text: "x" }], "points outside the archive"],
  ["a path with .. in the middle", [{ path: "a/../../stolen", text: "x" }], "points outside the archive"],
  ["an absolute path", [{ path: OUTSIDE, text: "x" }], "absolute"],
  ["a backslash", [{ path: "..\\..\\stolen", text: "x" }], "backslash"],
  ["a line break in a name", [{ path: "a\nb", text: "x" }], "control characters"],
  ["a symbolic link", [{ path: "link", type: "2", link: "/etc/passwd" }], "symbolic link"],
  [
    "a write through a link",
    [
      { path: "d", type: "2", link: "/tmp" },
      { path: "d/stolen", text: "x" },
    ],
    "symbolic",
  ],
  ["a hard link", [{ path: "link", type: "1", link: "/etc/passwd" }], "hard link"],
  ["a device", [{ path: "null", type: "3" }], "only files and directories are accepted"],
  ["too many files", Array.from({ length: 60 }, (_, n) => ({ path: `f${n}`, text: "" })), "more than 50 entries"],
  ["a decompression bomb", [{ path: "zeros", text: "\0".repeat(5_000_000) }], "more than 3 MiB"],
  [
    "a file in place of a directory",
    [
      { path: "a/b", text: "x" },
      { path: "a", text: "y" },
    ],
    "the same name",
  ],
])("rejects an archive with %s", async (_, entries, reason) => {
  const { message, log } = await failing(createArchive([...project, ...entries]));
  expect(message).toContain(reason);
  expect(log.at(-1)).toContain(reason);
  expect(existsSync(OUTSIDE)).toBe(false);
  expect(existsSync("/tmp/stolen")).toBe(false);
  expect(builds()).toEqual([]);
});

test.each<[string, Buffer, object, string]>([
  ["content that is not a tar", gzipSync(Buffer.from("x".repeat(3000))), {}, "cannot be read"],
  ["its end missing", createArchive(graphProject("x")).subarray(0, 200), {}, "cannot be read"],
  ["no langgraph.json", createArchive({ "readme.md": "" }), {}, "The project has no file langgraph.json"],
  ["a malformed langgraph.json", createArchive({ "langgraph.json": "{" }), {}, "not valid JSON"],
  ["no graph", createArchive({ "langgraph.json": '{"graphs":{}}' }), {}, "must name at least one graph"],
  [
    "env outside",
    createArchive(graphProject("x", { "langgraph.json": '{"graphs":{"a":"./a.mjs:g"},"env":"../x"}' })),
    {},
    "outside",
  ],
  ["a malformed package.json", createArchive(graphProject("x", { "package.json": "nope" })), {}, "package.json is not"],
  [
    "a lock file that does not match package.json",
    createArchive(
      graphProject("x", {
        "package.json": '{"name":"a","version":"1.0.0","dependencies":{"b":"1.0.0"}}',
        "package-lock.json":
          '{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"a","version":"1.0.0"}}}',
      }),
    ),
    {},
    '"npm ci --prefer-offline --no-audit --no-fund" failed with exit code 1',
  ],
  ["a command that fails", createArchive(graphProject("x")), { install_command: "node nothing.js" }, "exit code 1"],
  ["an unknown command", createArchive(graphProject("x")), { install_command: "no-such-command" }, "exit code 127"],
])("a project with %s fails in its build with the reason in the log", async (_, archive, config, reason) => {
  const fresh = await createDeployment(call, `broken-${++createdCount}`);
  const revision = await deployArchive(call, fresh, archive, { source_config: config });
  await untilStatus(call, fresh, revision, "BUILD_FAILED");
  const { json } = await call("GET", `/v2/deployments/${fresh}/revisions/${revision}`);
  expect(json.status_message).toContain(reason);
  expect((await logLines(call, fresh, revision, "build")).at(-1)).toContain(reason);
  expect(builds()).toEqual([]);
});
const run = (script: string) => createArchive(graphProject("x", { "script.js": script }));
const command = { install_command: "node script.js" };

test("an installation that exceeds its time limit is killed with its child processes", async () => {
  const script = `const { spawn } = require("node:child_process");
spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "HEDDLE-ENDLESS"], { stdio: "ignore", detached: false });
setInterval(() => {}, 1000);`;
  const { message } = await failing(run(script), command);
  expect(message).toContain("longer than 6 s");
  expect(commandsWith("HEDDLE-ENDLESS")).toEqual([]);
});

test("a build that prints too much is killed, and its log stays short", async () => {
  const { message, log } = await failing(run(""), { install_command: `yes ${"x".repeat(900)}` });
  expect(message).toContain("printed more than the limit");
  expect(log.length).toBeLessThan(1200);
});

test("a build sees neither the platform's environment nor the deployment's", async () => {
  process.env["HEDDLE_SECRETS_KEYS_OF_A_TEST"] = "platform-secret";
  const script = "for (const [k, v] of Object.entries(process.env)) console.log(k + '=' + v); process.exit(1);";
  const { log } = await failing(run(script), command);
  delete process.env["HEDDLE_SECRETS_KEYS_OF_A_TEST"];
  const names = log.filter((line) => line.includes("=")).map((line) => line.split("=")[0]);
  expect(names).toEqual(expect.arrayContaining(["PATH", "HOME", "CI"]));
  expect(log.join()).not.toContain("platform-secret");
  expect(names.filter((name) => /^(VITEST|DATABASE_URI|HEDDLE_SECRETS)/.test(name!))).toEqual([]);
});

test("an interrupted build ends at once and stays interrupted", async () => {
  const revision = await deployArchive(call, id, run("setInterval(() => {}, 1000, 'HEDDLE-INTERRUPT')"), {
    source_config: command,
  });
  await untilStatus(call, id, revision, "BUILDING");
  const path = `/v2/deployments/${id}/revisions/${revision}`;
  expect((await call("POST", `${path}/interruption`)).json.status).toBe("INTERRUPTED");
  await vi.waitUntil(() => builds().length === 0, { timeout: 20_000 });
  await new Promise((done) => setTimeout(done, 1200));
  expect((await call("GET", path)).json).toMatchObject({
    status: "INTERRUPTED",
    status_message: "Interrupted by a caller.",
  });
  expect((await call("POST", `${path}/interruption`)).status).toBe(200);
});

test("of two revisions the newer wins: the older one is skipped during its build", async () => {
  const older = await deployArchive(call, id, run("setInterval(() => {}, 1000)"), { source_config: command });
  await untilStatus(call, id, older, "BUILDING");
  const newer = await deployArchive(call, id, createArchive({ "langgraph.json": "{" }));
  await untilStatus(call, id, older, "SKIPPED");
  await untilStatus(call, id, newer, "BUILD_FAILED");
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${older}`);
  expect(json.status_message).toContain(newer);
});
