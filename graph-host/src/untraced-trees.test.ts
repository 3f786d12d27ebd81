import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { RunnableLambda } from "@langchain/core/runnables";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { Annotation, END, getConfig, START, StateGraph } from "@langchain/langgraph";
import { RunTree, type Client } from "langsmith";
import { getCurrentRunTree, traceable } from "langsmith/traceable";
import { afterEach, beforeEach, expect, test } from "vitest";

import { deferUntracedTrees } from "./untraced-trees.ts";

const provider = Object.getPrototypeOf(AsyncLocalStorageProviderSingleton) as { runWithConfig: unknown };
const original = provider.runWithConfig;
beforeEach(() => deferUntracedTrees());
afterEach(() => void (provider.runWithConfig = original));

/** Runs `look` in a node of a graph. */
async function inNode<T>(look: () => T, config: object = {}): Promise<T> {
  let seen: T | undefined;
  const graph = new StateGraph(Annotation.Root({ x: Annotation<number> }))
    .addNode("look", async () => {
      seen = await look();
      return { x: 1 };
    })
    .addEdge(START, "look")
    .addEdge("look", END)
    .compile();
  await graph.invoke({ x: 0 }, config);
  return seen!;
}

/** Fields of a tree whose values differ from one to the next. */
const OWN = ["id", "trace_id", "dotted_order", "start_time", "_serialized_start_time", "extra"];

test("creates no RunTree for a node that uses none", async () => {
  expect(provider.runWithConfig).not.toBe(original);
  const own = await inNode(() => Object.keys(getCurrentRunTree()));
  expect(own).toEqual(["extra", "tracingEnabled"]);
});

test("a node's tree has the fields of the library's, and stays untraced", async () => {
  const library = new RunTree({ name: "<runnable_lambda>", tracingEnabled: false });
  const [first, second] = await Promise.all([inNode(() => getCurrentRunTree()), inNode(() => getCurrentRunTree())]);
  expect(first).toBeInstanceOf(RunTree);
  expect(first.name).toBe(library.name);
  expect(Object.keys(first).toSorted()).toEqual(Object.keys(library).toSorted());
  const common = (tree: RunTree) => Object.fromEntries(Object.entries(tree).filter(([name]) => !OWN.includes(name)));
  expect(common(first)).toEqual(common(library));
  expect(first.trace_id).toBe(first.id);
  expect(second.id).not.toBe(first.id);
  const child = first.createChild({ name: "child" });
  expect(child).toMatchObject({ tracingEnabled: false, trace_id: first.id, parent_run: { id: first.id } });
});

test("keeps changes that a node makes to its tree", async () => {
  const tree = await inNode(() => {
    const current = getCurrentRunTree();
    current.metadata = { a: 1 };
    current.tags = ["t"];
    return current;
  });
  expect(tree.tags).toEqual(["t"]);
  expect(tree.metadata).toEqual({ a: 1 });
  expect(tree.name).toBe("<runnable_lambda>");
});

test("nodes and nested runnables see their config", async () => {
  const config = await inNode(() => RunnableLambda.from(() => getConfig()).invoke(0, { tags: ["inner"] }), {
    configurable: { thread_id: "t", user: "u" },
  });
  expect(config.configurable).toMatchObject({ user: "u" });
});

test("traces runs as before: functions of a node belong to the run's trace", async () => {
  const sent: { id: string; name: string; trace_id: string }[] = [];
  const client = {
    createRun: (run: (typeof sent)[number]) => Promise.resolve(void sent.push(run)),
    updateRun: () => Promise.resolve(),
  } as unknown as Client;
  const tracer = new LangChainTracer({ client });
  const inner = traceable(() => 1, { name: "inner" });
  const runId = crypto.randomUUID();
  const tree = await inNode(
    async () => {
      await inner();
      return getCurrentRunTree();
    },
    { callbacks: [tracer], runId },
  );
  expect(tree.trace_id).toBe(runId);
  const traced = sent.find(({ name }) => name === "inner");
  expect(traced?.trace_id).toBe(runId);
});
