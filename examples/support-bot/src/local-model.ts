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
  /** Arguments of each call. */
  calls(text: string, found: RegExpExecArray): Record<string, string>[];
}

const eachOrder = (text: string) => (text.match(/\d+/g) ?? []).map((order) => ({ order }));
const RULES: Rule[] = [
  { pattern: /refund.*\d/i, tool: "refund_order", calls: eachOrder },
  { pattern: /order.*\d/i, tool: "look_up_order", calls: eachOrder },
  { pattern: /remember(?: that)? (.+?)[.!]?$/i, tool: "remember", calls: (_, found) => [{ fact: found[1]! }] },
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
  const results = messages.slice(messages.findLastIndex((message) => message.getType() !== "tool") + 1);
  if (results.length > 0) return new AIMessage(results.map((message) => message.text).join(" "));
  const asked = messages.at(-1)!.text;
  for (const { pattern, tool, calls } of RULES) {
    const found = pattern.exec(asked);
    if (!found) continue;
    const tool_calls = calls(asked, found).map((args, at) => ({
      name: tool,
      args,
      id: `call_${messages.length}_${at}`,
    }));
    return new AIMessage({ content: "", tool_calls });
  }
  const facts = /^They told you: (.*)$/m.exec(messages[0]!.text)?.[1];
  if (/know about me/i.test(asked)) return new AIMessage(facts ? `You told me: ${facts}` : "Nothing yet.");
  return new AIMessage("I can look up an order, refund one, and remember what you tell me. What is its number?");
}
