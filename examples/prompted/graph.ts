import { Annotation, START, StateGraph } from "@langchain/langgraph";

import { pullPrompt } from "./pull-prompt.ts";
import { QuotingModel } from "./quoting-model.ts";

/**
 * Answers by a prompt that it pulls by tag at the start of each run. The trace of a run links to the prompt's commit,
 * since the pulled prompt has it in its metadata.
 */
const State = Annotation.Root({
  question: Annotation<string>,
  answer: Annotation<string>,
  /** Commit of the prompt. */
  prompt_version: Annotation<string>,
});

export const graph = new StateGraph(State)
  .addNode("respond", async ({ question }, config) => {
    const { prompt, version } = await pullPrompt();
    const { text } = await prompt.pipe(new QuotingModel({})).invoke({ question }, config);
    return { answer: text, prompt_version: version };
  })
  .addEdge(START, "respond")
  .compile({ name: "prompted" });
