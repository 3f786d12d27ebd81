import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  topic: Annotation<string>(),
  answer: Annotation<unknown>(),
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

/** draft → ask, which stops for a human → publish or, when the answer is "no", drop. */
export const graph = new StateGraph(State)
  .addNode("draft", ({ topic }) => ({ log: [`draft:${topic}`] }))
  .addNode(
    "ask",
    ({ topic }) => {
      const answer = interrupt({ question: `Publish ${topic}?` });
      return new Command({ update: { answer, log: ["asked"] }, goto: answer === "no" ? "drop" : "publish" });
    },
    { ends: ["publish", "drop"] },
  )
  .addNode("publish", () => ({ log: ["published"] }))
  .addNode("drop", () => ({ log: ["dropped"] }))
  .addEdge(START, "draft")
  .addEdge("draft", "ask")
  .addEdge("publish", END)
  .addEdge("drop", END)
  .compile();
