// Plays random sequences of the queue's calls against a model of the queue (server/test/queue-model), on a separate
// Postgres: --sequences N (default 10000), --seed N, --unshrunk, --crowded. Prints counts and the shortest counterexample, or the first one; exits with 1 when
// there is one.
import { parseArgs } from "node:util";

import { connect } from "../../server/src/base/db/connect.ts";
import { migrate } from "../../server/src/base/db/migrate.ts";
import { checkQueue } from "../../server/test/queue-model/check-queue.ts";
import { startOwnPostgres } from "./own-postgres.ts";

const { values: options } = parseArgs({
  options: {
    sequences: { type: "string", default: "10000" },
    seed: { type: "string" },
    unshrunk: { type: "boolean", default: false },
    crowded: { type: "boolean", default: false },
  },
});
const sequences = Number(options.sequences);
const seed = Number(options.seed ?? Date.now() % 1_000_000);

const { database, close } = await startOwnPostgres("queue-model");
try {
  const sql = connect(database, { max: 1 });
  await migrate(sql).finally(() => sql.end());
  console.log(`seed ${seed}`);
  const startedAt = performance.now();
  const found = await checkQueue(database, { sequences, seed, unshrunk: options.unshrunk, crowded: options.crowded });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`${found.sequences} sequences, ${found.commands} commands, ${seconds} s, seed ${seed}`);
  if (found.violation) console.log(`VIOLATION\n${found.violation}`);
  else console.log("no violation");
  process.exitCode = found.violation ? 1 : 0;
} finally {
  await close();
}
