import assert from "node:assert/strict";
import { test } from "node:test";

import { Command, MemorySaver } from "@langchain/langgraph";

import { graph } from "./graph.ts";

test("asks a human before it sends, and sends what was approved", async () => {
  graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: "one" } };
  await graph.invoke({ topic: "lunch on Friday" }, config);
  const asking = await graph.getState(config);
  assert.deepEqual(asking.next, ["review"]);
  assert.equal(asking.tasks[0]!.interrupts.length, 1);
  await graph.invoke(new Command({ resume: "approve" }), config);
  assert.deepEqual((await graph.getState(config)).next, []);
  graph.checkpointer = undefined;
});
