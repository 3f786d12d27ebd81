import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";

import type { ToBlock } from "./content-blocks.ts";

/** What one call needs to create its model. Secrets and settings by the names that the provider declares. */
export interface ModelTarget {
  model: string;
  parameters: Record<string, unknown>;
  settings: Record<string, string>;
  secrets: Record<string, string>;
  /** Guarded `fetch` of this call, which its end aborts. */
  fetch: typeof globalThis.fetch;
}

/** Options of a call beside its messages, as LangChain's models take them. */
export type CallOptions = Record<string, unknown>;

/**
 * The part of LangChain's chat models that calls use. `_streamResponseChunks` is what `stream` calls after setting up
 * callbacks: without them, no variable of the environment can send a workspace's messages to another tracing service.
 */
export interface ChatModel {
  bindTools?(tools: unknown[], options?: CallOptions): unknown;
  _streamResponseChunks(messages: BaseMessage[], options: CallOptions): AsyncGenerator<ChatGenerationChunk>;
}

/** Adapter of a provider's LangChain package. */
export interface Adapter {
  /** Creates the model. Throws 424 when the package is missing. */
  create(target: ModelTarget): Promise<ChatModel>;
  /** Call options that request an answer by a JSON schema; without them the model is made to call a tool. */
  structured?(schema: Record<string, unknown>, name: string): CallOptions;
  /** `tool_choice` of the provider; default: as in LangChain. */
  toolChoice?(choice: string): unknown;
  /** Default URL of the API, whose origin is the only one that a call may reach. */
  baseUrl(settings: Record<string, string>): string;
  toBlock: ToBlock;
  /** Whether parts of a response count the output from its beginning, although the package's chunks are to be added. */
  cumulativeOutput?: true;
  /** Whether `parallel_tool_calls` is supported. */
  parallelToolCalls?: true;
}

/** Returns the object without undefined values, whose place defaults of the environment would take. */
export const defined = <T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
