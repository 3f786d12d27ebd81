import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ by: Annotation<string>(), hops: Annotation<number>() });

/** Creates a graph for each run: the run's configuration determines its nodes. */
export async function makeGraph(config: RunnableConfig) {
  const flavour = String(config.configurable?.["flavour"] ?? "plain");
  const builder = new StateGraph(State).addNode("work", () => ({ by: flavour, hops: 1 })).addEdge(START, "work");
  if (flavour !== "long") return builder.compile();
  return builder
    .addNode("extra", ({ hops }) => ({ hops: hops + 1 }))
    .addEdge("work", "extra")
    .compile();
}
