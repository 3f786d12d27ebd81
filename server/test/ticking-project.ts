import { graphProject } from "./deploy.ts";

/** Returns a graph that emits `ticks` numbers, one in each step, every `pause` ms: a run that is long, and resumable. */
export const tickingProject = (word: string): Record<string, string> =>
  graphProject(word, {
    "langgraph.json": JSON.stringify({ graphs: { echo: "./graph.mjs:graph", ticker: "./ticker.mjs:graph" } }),
    "ticker.mjs": `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ ticks: Annotation(), pause: Annotation(), n: Annotation({ reducer: (_, n) => n, default: () => 0 }) });
export const graph = new StateGraph(State)
  .addNode("tick", async ({ n, pause }, config) => {
    await new Promise((done) => setTimeout(done, pause));
    config.writer?.({ n });
    return { n: n + 1 };
  })
  .addEdge("__start__", "tick")
  .addConditionalEdges("tick", ({ n, ticks }) => (n < ticks ? "tick" : "__end__"))
  .compile();
`,
  });
