// Kills and freezes two trace platforms while traces arrive in every order, and checks that the rules have matched
// exactly the runs that they should, and acted once on each: --runs N (default 10000), --faults N (default 50), --seed
// N. Exits with 1 on a violation.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { connect } from "../../server/src/base/db/connect.ts";
import { EmbeddedPostgres } from "../../server/src/base/db/embedded-postgres.ts";
import { runRuleFaults } from "../../test/crash/rule-faults.ts";

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    faults: { type: "string", default: "50" },
    seed: { type: "string" },
  },
});
const seed = Number(options.seed ?? Date.now() % 1_000_000);
const directory = mkdtempSync(join(tmpdir(), "heddle-rule-faults-"));
// Postgres does not run as root, and its user needs access to its data
chmodSync(directory, 0o755);
const cluster = new EmbeddedPostgres({ dataDir: directory });
console.log(`seed ${seed}`);
try {
  const { uri, socket } = await cluster.start();
  const sql = connect({ uri, socket }, { max: 2 });
  const startedAt = performance.now();
  const { violations, ...report } = await runRuleFaults({
    uri,
    sql,
    runs: Number(options.runs),
    faults: Number(options.faults),
    seed,
    log: console.log,
  });
  await sql.end();
  console.log(JSON.stringify({ ...report, seconds: Math.round((performance.now() - startedAt) / 1000) }));
  for (const violation of violations.slice(0, 50)) console.log(`VIOLATION ${violation}`);
  console.log(
    violations.length === 0
      ? "Each match is there once, and was acted on once."
      : `${violations.length} violations; seed ${seed}.`,
  );
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
}
