import { Annotation, Command, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import { expect, test } from "vitest";

import { nothingFollows, readTriggers } from "./final-step.ts";

const State = Annotation.Root({ log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const say = (what: string) => () => ({ log: [what] });

/**
 * Returns for each checkpoint of a run, oldest first, whether the library ran nodes after it, and this module's
 * verdict.
 */
async function judged(graph: { nodes: object } & object, input: unknown = { log: [] }): Promise<[boolean, boolean][]> {
  const saver = new MemorySaver();
  const bound = Object.assign(Object.create(graph), { checkpointer: saver });
  const config = { configurable: { thread_id: "t" } };
  await bound.invoke(input, config);
  const triggers = readTriggers(graph)!;
  const judgements: [boolean, boolean][] = [];
  for await (const state of bound.getStateHistory(config)) {
    const tuple = await saver.getTuple(state.config);
    judgements.unshift([state.next.length === 0, nothingFollows(tuple!.checkpoint as Checkpoint, triggers)]);
  }
  return judgements;
}

const chain = new StateGraph(State)
  .addNode("a", say("a"))
  .addNode("b", say("b"))
  .addEdge(START, "a")
  .addEdge("a", "b")
  .addEdge("b", END);

const routed = new StateGraph(State)
  .addNode("a", say("a"))
  .addNode("b", say("b"))
  .addEdge(START, "a")
  .addConditionalEdges("a", ({ log }) => (log.length < 3 ? "b" : END), ["b", END])
  .addEdge("b", "a");

const sends = new StateGraph(State)
  .addNode("a", say("a"))
  .addNode("b", say("b"))
  .addEdge(START, "a")
  .addConditionalEdges("a", () => [new Send("b", {}), new Send("b", {})], ["b"])
  .addEdge("b", END);

const joined = new StateGraph(State)
  .addNode("a", say("a"))
  .addNode("b", say("b"))
  .addNode("c", say("c"))
  .addEdge(START, "a")
  .addEdge(START, "b")
  .addEdge(["a", "b"], "c")
  .addEdge("c", END);

const commands = new StateGraph(State)
  .addNode("a", () => new Command({ update: { log: ["a"] }, goto: "b" }), { ends: ["b"] })
  .addNode("b", say("b"))
  .addEdge(START, "a")
  .addEdge("b", END);

const deferred = new StateGraph(State)
  .addNode("a", say("a"))
  .addNode("b", say("b"), { defer: true })
  .addEdge(START, "a")
  .addEdge("a", "b")
  .addEdge("b", END);

test.each(Object.entries({ chain, routed, sends, commands }))(
  "%s: recognizes the final step, and only that",
  async (_, built) => {
    const judgements = await judged(built.compile());
    expect(judgements.length).toBeGreaterThan(2);
    expect(judgements.at(-1)).toEqual([true, true]);
    for (const [ends, saysSo] of judgements.slice(0, -1)) expect([ends, saysSo]).toEqual([false, false]);
  },
);

test.each(Object.entries({ joined, deferred }))(
  "%s: never takes a step for the final one when nodes may follow",
  async (_, built) => {
    const judgements = await judged(built.compile());
    expect(judgements.length).toBeGreaterThan(2);
    for (const [ends, saysSo] of judgements) expect(ends || !saysSo).toBe(true);
  },
);

test("a breakpoint is not the final step, because nodes follow it", async () => {
  const judgements = await judged(chain.compile({ interruptBefore: ["b"] }));
  expect(judgements.at(-1)).toEqual([false, false]);
});

test("an object that is not a graph has no triggers", () => {
  expect(readTriggers({})).toBeUndefined();
  expect(readTriggers({ nodes: { a: {} } })).toBeUndefined();
});
