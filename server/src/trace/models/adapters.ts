import { anthropicAdapter } from "./anthropic-model.ts";
import { bedrockAdapter } from "./bedrock-model.ts";
import type { Adapter } from "./chat-model.ts";
import { googleAdapter } from "./google-model.ts";
import { mistralAdapter } from "./mistral-model.ts";
import { ollamaAdapter } from "./ollama-model.ts";
import { azureOpenaiAdapter, openaiAdapter, openaiResponsesAdapter } from "./openai-model.ts";
import type { ProviderId } from "./providers.ts";

export const ADAPTERS: Record<ProviderId, Adapter> = {
  openai: openaiAdapter,
  "openai-responses": openaiResponsesAdapter,
  "azure-openai": azureOpenaiAdapter,
  anthropic: anthropicAdapter,
  "google-genai": googleAdapter,
  bedrock: bedrockAdapter,
  mistral: mistralAdapter,
  ollama: ollamaAdapter,
  "openai-compatible": openaiAdapter,
};
