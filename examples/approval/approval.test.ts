import { Command, MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { graph } from "./graph.ts";

test("asks a human before it sends, and sends what was approved", async () => {
  graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: "one" } };
  await graph.invoke({ topic: "lunch on Friday" }, config);
  const asking = await graph.getState(config);
  expect(asking.next).toEqual(["review"]);
  expect(asking.tasks[0]!.interrupts).toHaveLength(1);
  await graph.invoke(new Command({ resume: "approve" }), config);
  expect((await graph.getState(config)).next).toEqual([]);
  graph.checkpointer = undefined;
});
