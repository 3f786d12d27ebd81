import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  frames: Annotation<number>(),
  bytes: Annotation<number>(),
  done: Annotation<boolean>(),
});

/** Writes `frames` custom frames of `bytes` characters each, as fast as it can. */
export const graph = new StateGraph(State)
  .addNode("pour", async ({ frames, bytes }, config: LangGraphRunnableConfig) => {
    const padding = "x".repeat(bytes);
    for (let n = 0; n < frames; n++) {
      config.writer?.({ n, padding });
      if (n % 50 === 0) await new Promise((done) => setImmediate(done));
    }
    return { done: true };
  })
  .addEdge(START, "pour")
  .compile();
