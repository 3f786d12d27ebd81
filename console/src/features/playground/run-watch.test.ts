import { expect, test } from "vitest";

import { applyFrame, settleWatch, type Frame, EMPTY_WATCH } from "./run-watch.ts";

const after = (...frames: Frame[]) => frames.reduce(applyFrame, EMPTY_WATCH);
const begin: Frame = { id: "0", event: "metadata", data: { run_id: "r", attempt: 1 } };

test("a node is active from its task's start to its end", () => {
  const started = after(begin, { id: "1", event: "tasks", data: { id: "t", name: "model", input: {} } });
  expect(started.nodes.get("model")).toBe("active");
  const ended = applyFrame(started, { id: "2", event: "tasks", data: { id: "t", name: "model", result: { a: 1 } } });
  expect(ended.nodes.get("model")).toBe("done");
  expect(ended.steps).toMatchObject([{ node: "model", state: "done", result: { a: 1 } }]);
  expect(ended.lastEventId).toBe("2");
});

test("a node with two tasks is active until both have ended", () => {
  const task = (id: string, end: object) => ({ event: "tasks", data: { id, name: "work", ...end } });
  const watch = after(begin, task("a", {}), task("b", {}), task("a", { result: 1 }));
  expect(watch.nodes.get("work")).toBe("active");
  expect(applyFrame(watch, task("b", { result: 1 })).nodes.get("work")).toBe("done");
});

test("subgraph nodes have the drawing's names; waiting and failed nodes have different states", () => {
  const event = "tasks|child:1|grandchild:2";
  const deep = after(begin, { event, data: { id: "x", name: "deep", result: {}, interrupts: [{ value: 1 }] } });
  expect(deep.nodes.get("child:grandchild:deep")).toBe("waiting");
  const failed = after(begin, { event: "tasks", data: { id: "x", name: "n", error: "boom" } });
  expect(failed.nodes.get("n")).toBe("failed");
});

test("another run resets the nodes, and a new attempt of the same run keeps them", () => {
  const watch = after(begin, { event: "updates", data: { model: {} } });
  expect(applyFrame(watch, { ...begin, data: { run_id: "r", attempt: 2 } })).toMatchObject({
    attempt: 2,
    nodes: watch.nodes,
  });
  expect(applyFrame(watch, { event: "metadata", data: { run_id: "s" } }).nodes.size).toBe(0);
});

test("no node is active after the stream ends, and active nodes of a failed run are failed", () => {
  const watch = after(begin, { event: "tasks", data: { id: "t", name: "model", input: {} } });
  expect(settleWatch(watch, false).nodes.size).toBe(0);
  expect(settleWatch(watch, true).nodes.get("model")).toBe("failed");
});

test("a sub-agent is named, streams its reply, and has its own state after each step", () => {
  const chunk = (content: string, metadata = {}): Frame => ({
    event: "messages|baker:1",
    data: [{ id: "m", type: "AIMessageChunk", content }, metadata],
  });
  const streaming = after(begin, chunk("half "), chunk("a loaf", { lc_agent_name: "Baker" }));
  expect([...streaming.agents.values()]).toEqual([
    { id: "baker:1", name: "Baker", taskId: "1", values: undefined, draft: { id: "m", text: "half a loaf" } },
  ]);
  const values = { messages: [{ type: "ai", content: "half a loaf" }] };
  const ended = applyFrame(streaming, { event: "values|baker:1", data: values });
  expect(ended.agents.get("baker:1")).toMatchObject({ name: "Baker", values, draft: null });
  // the graph's own values and messages are those of no sub-agent
  expect(applyFrame(ended, { event: "values", data: values }).agents.size).toBe(1);
});
