import { RunnableConfig } from "@langchain/core/runnables";
import { Annotation } from "@langchain/langgraph";

import { SYSTEM_PROMPT_TEMPLATE } from "./prompts.js";

export const ConfigurationSchema = Annotation.Root({
  /** The system prompt of the agent. */
  systemPromptTemplate: Annotation<string>,
  /** The model, as provider/name or name. */
  model: Annotation<string>,
});

export function ensureConfiguration(config: RunnableConfig): typeof ConfigurationSchema.State {
  const configurable = config.configurable ?? {};
  return {
    systemPromptTemplate: configurable.systemPromptTemplate ?? SYSTEM_PROMPT_TEMPLATE,
    model: configurable.model ?? "claude-3-7-sonnet-latest",
  };
}
