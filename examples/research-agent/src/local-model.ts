import { setTimeout as sleep } from "node:timers/promises";

import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { SimpleChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";

/** A model by rules, without a network: the same prompt always gets the same answer, streamed word by word. */
export class LocalModel extends SimpleChatModel {
  override _llmType(): string {
    return "local";
  }

  override _call(messages: BaseMessage[]): Promise<string> {
    return Promise.resolve(reply(messages));
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const text of reply(messages).match(/\s*\S+/g) ?? []) {
      await sleep(5);
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

/** Answers the three prompts of the graph: the plan, a summary of what was found, and the report. */
function reply([system, human]: BaseMessage[]): string {
  const [task, asked] = [system!.text, human!.text];
  if (task.startsWith("Plan")) {
    const subject = /\b(?:about|of|are|is) (.+?)\??$/i.exec(asked)?.[1] ?? asked;
    return ["How do they work", "What do they cost", "Where do they fail"]
      .map((question) => `${question}: ${subject}?`)
      .join("\n");
  }
  if (task.startsWith("Summarize")) return asked.split("\n").at(-1)!.trim();
  return `In short: ${asked
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line.slice(2))
    .join(" ")}`;
}
