import { parseArgs } from "node:util";

import { connect } from "../../server/src/base/db/connect.ts";
import { migrate } from "../../server/src/base/db/migrate.ts";
import { checkQueue } from "../../server/test/queue-model/check-queue.ts";
import { startOwnPostgres } from "./own-postgres.ts";

const HELP = `Usage: npm run queue-model -- [options]

Plays random sequences of the queue's calls against a model of the queue (server/test/queue-model), on a separate
Postgres. 10,000 sequences take about an hour.

  --sequences N   default 10000
  --seed N        of the random choices; the same seed makes the same ones (default: the time)
  --unshrunk      report a counterexample as it was found, not the shortest one
  --crowded       only sequences of many runs that need each other's keys
  --help

Exits with 1 when there is a counterexample.
`;

const { values: options } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    sequences: { type: "string", default: "10000" },
    seed: { type: "string" },
    unshrunk: { type: "boolean", default: false },
    crowded: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}
const sequences = Number(options.sequences);
const seed = Number(options.seed ?? Date.now() % 1_000_000);

const { database, close } = await startOwnPostgres("queue-model");
try {
  const sql = connect(database, { max: 1 });
  await migrate(sql).finally(() => sql.end());
  console.log(`seed ${seed}`);
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) / 1000);
  const found = await checkQueue(database, {
    ...{ sequences, seed, unshrunk: options.unshrunk, crowded: options.crowded },
    progress: (counts) => console.log(`${counts.sequences} sequences, ${counts.commands} commands, ${elapsed()} s`),
  });
  const seconds = elapsed();
  console.log(`${found.sequences} sequences, ${found.commands} commands, ${seconds} s, seed ${seed}`);
  if (found.violation) console.log(`VIOLATION\n${found.violation}`);
  else console.log("no violation");
  process.exitCode = found.violation ? 1 : 0;
} finally {
  await close();
}
