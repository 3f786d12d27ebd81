import { Annotation, END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

import { record } from "./ledger.ts";

const State = Annotation.Root({
  job: Annotation<{ token: string; questions: number }>,
  /** Answers, in the order of the questions. */
  answers: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

/** Asks one question after another; the answer to question i is expected to begin with `a<i>-`. */
async function ask(state: typeof State.State, config: LangGraphRunnableConfig) {
  const { token } = state.job;
  const question = state.answers.length + 1;
  record(config, { phase: "ask", token, question });
  const answer = interrupt<{ question: number }, string>({ question });
  record(config, { phase: "answer", token, question, answer });
  return { answers: [answer] };
}

export const graph = new StateGraph(State)
  .addNode("ask", ask)
  .addEdge(START, "ask")
  .addConditionalEdges("ask", (state) => (state.answers.length < state.job.questions ? "ask" : END), ["ask", END])
  .compile();
