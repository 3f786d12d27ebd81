import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

import { LocalModel } from "./local-model.ts";

/** Returns a provider's model when its key is set, else the local one, which needs neither a key nor a network. */
export async function chooseModel(): Promise<BaseChatModel> {
  if (process.env["OPENAI_API_KEY"]) {
    const { ChatOpenAI } = await import("@langchain/openai");
    return new ChatOpenAI({ model: process.env["OPENAI_MODEL"] ?? "gpt-4.1-mini" });
  }
  if (process.env["ANTHROPIC_API_KEY"]) {
    const { ChatAnthropic } = await import("@langchain/anthropic");
    return new ChatAnthropic({ model: process.env["ANTHROPIC_MODEL"] ?? "claude-sonnet-4-5" });
  }
  return new LocalModel({});
}
