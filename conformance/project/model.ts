import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseChatModelCallOptions } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

interface Options extends BaseChatModelCallOptions {
  /** Pause before each token, in milliseconds. */
  delay?: number;
}

/**
 * Answers by rule and streams token by token, so that a test knows every frame. "weather in X" calls the tool
 * `get_weather`; a tool's answer is repeated; anything else is echoed.
 */
export class RuleModel extends BaseChatModel<Options> {
  override _llmType(): string {
    return "rule";
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options)) whole = whole?.concat(chunk) ?? chunk;
    return { generations: [whole!] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const fields of reply(messages)) {
      if (options.delay) await new Promise((done) => setTimeout(done, options.delay));
      const message = new AIMessageChunk(fields);
      const chunk = new ChatGenerationChunk({ message, text: fields.content });
      yield chunk;
      await runManager?.handleLLMNewToken(fields.content, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

type Fields = { content: string; tool_call_chunks?: AIMessageChunk["tool_call_chunks"] };

function reply(messages: BaseMessage[]): Fields[] {
  const last = messages.at(-1);
  const text = String(last?.content ?? "");
  const city = last?.getType() === "human" ? /weather in (\w+)/.exec(text)?.[1] : undefined;
  if (city) {
    const id = `call_${messages.length}`;
    return [
      { content: "", tool_call_chunks: [{ name: "get_weather", args: "", id, index: 0, type: "tool_call_chunk" }] },
      { content: "", tool_call_chunks: [{ args: '{"city":', index: 0, type: "tool_call_chunk" }] },
      { content: "", tool_call_chunks: [{ args: `"${city}"}`, index: 0, type: "tool_call_chunk" }] },
    ];
  }
  if (text === "say what Postgres rejects") return [{ content: "nul \u0000 " }, { content: "half \ud800" }];
  const answer = last?.getType() === "tool" ? `The tool says: ${text}` : `You said: ${text}`;
  return answer.split(/(?<= )/).map((content) => ({ content }));
}
