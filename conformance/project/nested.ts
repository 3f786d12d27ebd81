import { Annotation, END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  ask: Annotation<boolean>(),
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

const grandchild = new StateGraph(State)
  .addNode("deep", ({ ask }, config: LangGraphRunnableConfig) => {
    config.writer?.({ from: "deep" });
    const answer = ask ? interrupt("deep question") : "nothing asked";
    return { log: [`deep:${answer}`] };
  })
  .addEdge(START, "deep")
  .compile();

const child = new StateGraph(State)
  .addNode("before", (_, config: LangGraphRunnableConfig) => {
    config.writer?.({ from: "before" });
    return { log: ["before"] };
  })
  .addNode("grandchild", grandchild)
  .addEdge(START, "before")
  .addEdge("before", "grandchild")
  .compile();

export const graph = new StateGraph(State)
  .addNode("enter", (_, config: LangGraphRunnableConfig) => {
    config.writer?.({ from: "enter" });
    return { log: ["enter"] };
  })
  .addNode("child", child)
  .addEdge(START, "enter")
  .addEdge("enter", "child")
  .addEdge("child", END)
  .compile();
