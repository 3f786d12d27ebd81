/**
 * Runs the trace platform's tests on a ClickHouse server, each file in its own database:
 *
 *     CLICKHOUSE_URL=http://user:password@host:8123 node --import tsx scripts/versions/clickhouse-suite.ts [FILE…]
 *     node --import tsx scripts/versions/clickhouse-suite.ts --emulated [--statements FILE] [FILE…]
 *
 * HEDDLE_CLICKHOUSE_CLUSTER runs them on a cluster, with distributed and replicated tables. `--emulated` needs no server:
 * it serves ClickHouse's HTTP interface in front of chDB. `--statements` then writes each distinct statement, with its
 * parameters and settings, as a line of JSON; scripts/versions/clickhouse-oldest.py replays them on the oldest supported version.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { ChdbSessions } from "../../server/src/base/clickhouse/chdb-sessions.ts";
import { clickHouseServer } from "../../server/test/clickhouse-server.ts";

/** Files with the statements of every slice. */
const SUITE = "server/src/trace";
/** Tests of chDB itself, or of a deletion's files on this machine. */
const NOT_ON_A_SERVER = ["**/erasures/**", "**/fair-ingest*", "**/overload*", "**/costly-questions*"];

const { values, positionals } = parseArgs({
  options: { emulated: { type: "boolean", default: false }, statements: { type: "string" } },
  allowPositionals: true,
});
const given = process.env["CLICKHOUSE_URL"];
if (!given === !values.emulated) {
  console.error("Set CLICKHOUSE_URL to a server's URL, or pass --emulated.");
  process.exit(2);
}
const files = positionals.length > 0 ? positionals : [SUITE];
process.exitCode = given ? await runTests(given) : await emulated(values.statements);

function runTests(url: string): Promise<number> {
  const cluster = process.env["HEDDLE_CLICKHOUSE_CLUSTER"] ?? "";
  const excluded = NOT_ON_A_SERVER.flatMap((pattern) => ["--exclude", pattern]);
  const child = spawn(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--project", "db", ...excluded, ...files],
    {
      stdio: "inherit",
      // tests that start their own servers get chDB
      env: {
        ...process.env,
        CLICKHOUSE_URL: "",
        HEDDLE_CLICKHOUSE_CLUSTER: "",
        HEDDLE_TEST_CLICKHOUSE_URL: url,
        HEDDLE_TEST_CLICKHOUSE_CLUSTER: cluster,
      },
    },
  );
  return new Promise((resolve) => child.once("close", (code) => resolve(code ?? 1)));
}

async function emulated(statementsFile: string | undefined): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-chdb-"));
  const engine = { directory, connections: 8, database: "default", settings: {}, maxMemory: 2 * 1024 ** 3 };
  const sessions = await ChdbSessions.open(engine);
  const statements = new Map<string, string>();
  const { url, server } = await clickHouseServer(sessions, (query, search) => {
    if (!statements.has(query)) statements.set(query, JSON.stringify({ query, given: Object.fromEntries(search) }));
  });
  try {
    return await runTests(url);
  } finally {
    if (statementsFile) writeFileSync(statementsFile, `${[...statements.values()].join("\n")}\n`);
    console.log(`${statements.size} distinct statements`);
    server.closeAllConnections();
    server.close();
    await sessions.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
