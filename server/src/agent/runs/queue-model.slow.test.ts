/** The queue against its model (server/test/queue-model); `npm run queue-model` plays thousands of sequences. */
import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { checkQueue } from "../../../test/queue-model/check-queue.ts";
import { declaredBy, mutate, MUTATIONS } from "../../../test/queue-model/mutations.ts";

/** Of random sequences. A minute plays a few hundred. */
const SECONDS = Number(process.env["QUEUE_MODEL_SECONDS"] ?? 8);

test(
  "results, tables and invariants match the model for random sequences of commands, lost ones and repeated ones",
  async () => {
    const { uri, options } = await testDatabase();
    const database = { uri, socket: options.host ?? null };
    const found = await checkQueue(database, { sequences: SECONDS * 20, seed: 14, seconds: SECONDS });
    expect(found.violation).toBeUndefined();
    expect(found.commands).toBeGreaterThan(100);
  },
  SECONDS * 4000 + 60_000,
);

test.each(MUTATIONS)("the law of $law fails when $fault", async (mutation) => {
  const { uri, options, sql } = await testDatabase();
  await mutate(sql, mutation);
  const database = { uri, socket: options.host ?? null };
  const found = await checkQueue(database, {
    ...{ sequences: 60, seed: 1, unshrunk: true, rules: declaredBy(mutation) },
    crowded: mutation.crowded ?? false,
  });
  expect(found.violation ?? "no violation").toContain(`${mutation.law}: `);
});
