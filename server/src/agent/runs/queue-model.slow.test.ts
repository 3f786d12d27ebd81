/** The queue against its model (server/test/queue-model); `npm run queue-model` plays thousands of sequences. */
import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { checkQueue } from "../../../test/queue-model/check-queue.ts";

test("results, tables and invariants match the model for random sequences of commands, lost ones and repeated ones", async () => {
  const { uri, options } = await testDatabase();
  const found = await checkQueue({ uri, socket: options.host ?? null }, { sequences: 200, seed: 14, seconds: 20 });
  expect(found.violation).toBeUndefined();
  expect(found.commands).toBeGreaterThan(200);
});
