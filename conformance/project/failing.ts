import { Annotation, START, StateGraph } from "@langchain/langgraph";

class CustomError extends Error {
  override name = "CustomError";
}

const State = Annotation.Root({ reason: Annotation<string>(), prepared: Annotation<boolean>() });

export const graph = new StateGraph(State)
  .addNode("prepare", () => ({ prepared: true }))
  .addNode("fail", ({ reason }): object => {
    throw new CustomError(reason ?? "boom");
  })
  .addEdge(START, "prepare")
  .addEdge("prepare", "fail")
  .compile();
