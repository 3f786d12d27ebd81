import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  steps: Annotation<number>(),
  ms: Annotation<number>(),
  label: Annotation<string>(),
  tick: Annotation<number>({ reducer: (_, right) => right, default: () => 0 }),
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

/** `steps` supersteps of `ms` milliseconds each; each leaves `<label>:<n>` in the log. */
export const graph = new StateGraph(State)
  .addNode("begin", ({ label }) => ({ tick: 0, log: [`${label}:begin`] }))
  .addNode("wait", async ({ label, ms, tick }, config: LangGraphRunnableConfig) => {
    await new Promise((done, fail) => {
      const timer = setTimeout(done, ms ?? 50);
      config.signal?.addEventListener("abort", () => (clearTimeout(timer), fail(new Error("aborted"))), { once: true });
    });
    config.writer?.({ label, tick: tick + 1 });
    return { tick: tick + 1, log: [`${label}:${tick + 1}`] };
  })
  .addEdge(START, "begin")
  .addEdge("begin", "wait")
  .addConditionalEdges("wait", ({ tick, steps }) => (tick < (steps ?? 3) ? "wait" : END), ["wait", END])
  .compile();
