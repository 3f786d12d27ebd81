import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** Graphs for the tests and the benchmark of the saver. */
const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  last: Annotation<string>(),
});

/** Builds a graph of one node that echoes its input. */
export function echoGraph(checkpointer: BaseCheckpointSaver | undefined) {
  return new StateGraph(Log)
    .addNode("echo", (state) => ({ log: [`heard ${state.last}`] }))
    .addEdge(START, "echo")
    .addEdge("echo", END)
    .compile({ checkpointer });
}

/** Builds a graph of two sequential nodes; `work` is called with the name of the running node. */
export function twoStepGraph(checkpointer: BaseCheckpointSaver, work: (node: string) => unknown) {
  return new StateGraph(Log)
    .addNode("first", async () => ({ log: [`first ${await work("first")}`], last: "first" }))
    .addNode("second", async () => ({ log: [`second ${await work("second")}`], last: "second" }))
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END)
    .compile({ checkpointer });
}
