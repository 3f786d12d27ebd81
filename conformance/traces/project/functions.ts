import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { traceable } from "langsmith/traceable";

const double = traceable((n: number) => n * 2, { name: "double", run_type: "tool" });

const State = Annotation.Root({ n: Annotation<number>() });

/** Calls, in its node, a function that `traceable` wraps. */
export const graph = new StateGraph(State)
  .addNode("compute", async ({ n }) => ({ n: await double(n) }))
  .addEdge(START, "compute")
  .compile();
