import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { Annotation, END, type LangGraphRunnableConfig, Send, START, StateGraph } from "@langchain/langgraph";

import { chooseModel } from "./model.ts";
import { researcher } from "./researcher.ts";
import { findings, todos } from "./state.ts";

const State = Annotation.Root({
  question: Annotation<string>,
  /** The plan, with its progress. */
  todos,
  findings,
  report: Annotation<string>,
});

const MAX_QUESTIONS = 5;
const model = await chooseModel();

async function plan({ question }: typeof State.State, config: LangGraphRunnableConfig) {
  const { text } = await model.invoke(
    [new SystemMessage("Plan research: write three questions, each on its own line."), new HumanMessage(question)],
    config,
  );
  const questions = text.split("\n").filter((line) => line.trim() !== "");
  return {
    todos: questions.slice(0, MAX_QUESTIONS).map((line) => ({ question: line.trim(), status: "open" as const })),
  };
}

/** Starts a sub-agent for each open question; they run at the same time. */
function dispatch(state: typeof State.State): Send[] {
  return state.todos
    .filter(({ status }) => status === "open")
    .map(({ question }) => new Send("researcher", { question }));
}

async function synthesize(state: typeof State.State, config: LangGraphRunnableConfig) {
  // sub-agents end in any order
  const ordered = state.todos.flatMap(({ question }) => state.findings.filter((each) => each.question === question));
  const lines = ordered.map(({ text, source }) => `- ${text} [${source}]`);
  const { text } = await model.invoke(
    [
      new SystemMessage("Answer the question from the findings alone, and name their sources."),
      new HumanMessage([state.question, ...lines].join("\n")),
    ],
    config,
  );
  return { report: text };
}

export const graph = new StateGraph(State)
  .addNode("plan", plan)
  .addNode("researcher", researcher)
  .addNode("synthesize", synthesize)
  .addEdge(START, "plan")
  .addConditionalEdges("plan", dispatch, ["researcher"])
  .addEdge("researcher", "synthesize")
  .addEdge("synthesize", END)
  .compile({ name: "research" });
