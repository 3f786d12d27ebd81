import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { decideReply, type Reply } from "./decide-reply.ts";

interface LocalModelOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/**
 * A chat model without a network: the same conversation always gets the same answer, streamed token by token like a
 * provider's, including tool calls. decide-reply.ts decides the answers.
 */
export class LocalModel extends BaseChatModel<LocalModelOptions> {
  #tokenDelayMs: number;

  constructor(fields: BaseChatModelParams & { tokenDelayMs?: number } = {}) {
    super(fields);
    this.#tokenDelayMs = fields.tokenDelayMs ?? 10;
  }

  override _llmType(): string {
    return "local";
  }

  override bindTools(
    tools: BindToolsInput[],
    options?: Partial<LocalModelOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, LocalModelOptions> {
    return this.withConfig({ tools, ...options });
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
      whole = whole?.concat(chunk) ?? chunk;
    }
    return { generations: [whole!] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const reply = decideReply(messages, new Set((options.tools ?? []).map(toolName)));
    for (const message of replyChunks(reply, messages)) {
      options.signal?.throwIfAborted();
      if (this.#tokenDelayMs > 0) await new Promise((done) => setTimeout(done, this.#tokenDelayMs));
      const text = typeof message.content === "string" ? message.content : "";
      const chunk = new ChatGenerationChunk({ message, text });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function toolName(tool: BindToolsInput): string {
  return "name" in tool ? String(tool.name) : "";
}

function* replyChunks(reply: Reply, messages: BaseMessage[]): Generator<AIMessageChunk> {
  // A word with its leading blank, like a tokenizer's tokens.
  const words = reply.text.match(/\s*\S+/g) ?? [];
  for (const content of words) yield new AIMessageChunk({ content });
  for (const [position, call] of reply.toolCalls.entries()) {
    const id = `call_${messages.length}_${position}`;
    // an index counts all blocks of a message: LangChain would merge a call at 0 into the text, which is block 0
    const index = words.length > 0 ? position + 1 : position;
    const args = JSON.stringify(call.args);
    const middle = Math.ceil(args.length / 2);
    const part = (fields: object) =>
      new AIMessageChunk({ content: "", tool_call_chunks: [{ type: "tool_call_chunk", index, ...fields }] });
    yield part({ id, name: call.name, args: "" });
    yield part({ args: args.slice(0, middle) });
    yield part({ args: args.slice(middle) });
  }
  const input = messages.reduce((sum, message) => sum + message.text.split(/\s+/).length, 0);
  const output = words.length + reply.toolCalls.length * 3;
  yield new AIMessageChunk({
    content: "",
    response_metadata: { model_name: "local", finish_reason: reply.toolCalls.length > 0 ? "tool_calls" : "stop" },
    usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  });
}
