import { expect, test } from "vitest";

import { runBody } from "./schema.ts";

test("the id of a checkpoint is read without regard to case, wherever a run names it", () => {
  const id = "1EF4F797-8335-6428-8001-8A1503F9B875";
  const checkpoint_id = id.toLowerCase();
  const read = (more: object) => runBody.parse({ assistant_id: "agent", ...more });
  expect(read({ checkpoint_id: id })).toMatchObject({ checkpoint_id });
  expect(read({ checkpoint: { checkpoint_id: id } })).toMatchObject({ checkpoint: { checkpoint_id } });
  expect(read({ config: { configurable: { checkpoint_id: id, A: "B" } } })).toMatchObject({
    config: { configurable: { checkpoint_id, A: "B" } },
  });
  // ids of other savers are theirs
  expect(read({ checkpoint_id: "Mine" })).toMatchObject({ checkpoint_id: "Mine" });
});
