import { setTimeout as sleep } from "node:timers/promises";

import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

interface LocalOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

interface Rule {
  pattern: RegExp;
  tool: string;
  /** Arguments by the groups of the pattern. */
  args(groups: string[]): Record<string, string>;
}

const RULES: Rule[] = [
  { pattern: /refund\D*(\d+)/i, tool: "refund_order", args: ([order]) => ({ order: order! }) },
  { pattern: /order\D*(\d+)/i, tool: "look_up_order", args: ([order]) => ({ order: order! }) },
  { pattern: /remember(?: that)? (.+?)[.!]?$/i, tool: "remember", args: ([fact]) => ({ fact: fact! }) },
];

/** A model by rules, without a network: the same conversation always gets the same answer, streamed word by word. */
export class LocalModel extends BaseChatModel<LocalOptions> {
  override _llmType(): string {
    return "local";
  }

  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools });
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = reply(messages);
    return Promise.resolve({ generations: [{ message, text: message.text }] });
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, tool_calls = [] } = reply(messages);
    for (const word of text.match(/\s*\S+/g) ?? []) {
      await sleep(20);
      const chunk = new ChatGenerationChunk({ text: word, message: new AIMessageChunk({ content: word }) });
      yield chunk;
      await runManager?.handleLLMNewToken(word, undefined, undefined, undefined, undefined, { chunk });
    }
    const calls = tool_calls.map(({ name, args, id }, index) => ({ name, args: JSON.stringify(args), id, index }));
    if (calls.length > 0)
      yield new ChatGenerationChunk({
        text: "",
        message: new AIMessageChunk({ content: "", tool_call_chunks: calls }),
      });
  }
}

function reply(messages: BaseMessage[]): AIMessage {
  const last = messages.at(-1)!;
  if (last.getType() === "tool") return new AIMessage(last.text);
  for (const { pattern, tool, args } of RULES) {
    const found = pattern.exec(last.text);
    if (found)
      return new AIMessage({
        content: "",
        tool_calls: [{ name: tool, args: args(found.slice(1)), id: `call_${messages.length}` }],
      });
  }
  const facts = /^They told you: (.*)$/m.exec(messages[0]!.text)?.[1];
  if (/know about me/i.test(last.text)) return new AIMessage(facts ? `You told me: ${facts}` : "Nothing yet.");
  return new AIMessage("I can look up an order, refund one, and remember what you tell me. What is its number?");
}
