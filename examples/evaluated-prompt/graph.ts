import { Annotation, START, StateGraph } from "@langchain/langgraph";

import { chooseModel } from "./model.ts";
import { pullPrompt } from "./pull-prompt.ts";

/**
 * Answers by a prompt that it pulls by tag at the start of each run. The trace of a run links to the prompt's commit,
 * since the pulled prompt has it in its metadata.
 */
const State = Annotation.Root({
  question: Annotation<string>,
  /** Tag of the prompt, which must be there; default: production, or the built-in prompt. */
  tag: Annotation<string | undefined>,
  answer: Annotation<string>,
  /** Commit of the prompt. */
  prompt_version: Annotation<string>,
});

const model = await chooseModel();

export const graph = new StateGraph(State)
  .addNode("respond", async ({ question, tag }, config) => {
    const { prompt, version } = await pullPrompt(tag);
    const { text } = await prompt.pipe(model).invoke({ question }, config);
    return { answer: text, prompt_version: version };
  })
  .addEdge(START, "respond")
  .compile({ name: "prompted" });
