import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

import { chooseModel } from "./model.ts";
import { search } from "./sources.ts";
import { findings, todos } from "./state.ts";

const State = Annotation.Root({
  question: Annotation<string>,
  source: Annotation<{ title: string; text: string } | null>,
  findings,
  todos,
});
/** What the parent's state gets. */
const Output = Annotation.Root({ findings, todos });

const model = await chooseModel();

function find({ question }: typeof State.State, config: LangGraphRunnableConfig) {
  const source = search(question, 1)[0] ?? null;
  config.writer?.({ step: "search", question, found: source?.title ?? null });
  return { source };
}

async function summarize({ question, source }: typeof State.State, config: LangGraphRunnableConfig) {
  const { text } = source
    ? await model.invoke(
        [
          new SystemMessage("Summarize, in one sentence, what the text says about the question."),
          new HumanMessage(`${question}\n${source.text}`),
        ],
        config,
      )
    : { text: "Nothing was found." };
  return {
    findings: [{ question, source: source?.title ?? "–", text }],
    todos: [{ question, status: "done" as const }],
  };
}

/** A sub-agent: answers one question from the sources. */
export const researcher = new StateGraph({ state: State, output: Output })
  .addNode("search", find)
  .addNode("summarize", summarize)
  .addEdge(START, "search")
  .addEdge("search", "summarize")
  .addEdge("summarize", END)
  .compile({ name: "researcher" });
