import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

/** Calls tools by rule and repeats a tool's answer, word by word; no key, and deterministic. */
export class ScriptedModel extends BaseChatModel {
  override _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages)) whole = whole?.concat(chunk) ?? chunk;
    return { generations: [whole!] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options?: object,
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const message of reply(messages)) {
      const chunk = new ChatGenerationChunk({ message, text: String(message.content) });
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function reply(messages: BaseMessage[]): AIMessageChunk[] {
  const last = messages.at(-1)!;
  const text = String(last.content);
  const cities = last.getType() === "human" ? [...text.matchAll(/weather in (\w+)/g)].map(([, city]) => city) : [];
  if (cities.length > 0) {
    const chunks = cities.map((city, index) => {
      const call = {
        name: "get_weather",
        args: JSON.stringify({ city }),
        id: `call_${messages.length}_${index}`,
        index,
      };
      return { ...call, type: "tool_call_chunk" as const };
    });
    return [new AIMessageChunk({ content: "", tool_call_chunks: chunks })];
  }
  const answer = last.getType() === "tool" ? `The tool says: ${text}` : `You said: ${text}`;
  return answer.split(/(?<= )/).map((content) => new AIMessageChunk({ content }));
}
