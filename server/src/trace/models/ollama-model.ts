import { type Adapter, type ChatModel, defined } from "./chat-model.ts";
import { ollamaBlock } from "./content-blocks.ts";
import { loadPackage } from "./load-package.ts";
import { PROVIDERS } from "./providers.ts";

const baseUrl = (settings: Record<string, string>): string =>
  settings["base_url"] ?? PROVIDERS.ollama.settings[0]!.default!;

export const ollamaAdapter: Adapter = {
  baseUrl,
  toBlock: ollamaBlock,
  structured: (schema) => ({ format: schema }),
  async create({ model, parameters: p, settings, secrets, fetch }) {
    const { ChatOllama } = await loadPackage("@langchain/ollama");
    const key = secrets["api_key"];
    return new ChatOllama({
      ...defined({
        temperature: p["temperature"] as number | undefined,
        numPredict: p["max_tokens"] as number | undefined,
        topP: p["top_p"] as number | undefined,
        topK: p["top_k"] as number | undefined,
        seed: p["seed"] as number | undefined,
        numCtx: p["context_length"] as number | undefined,
        headers: key === undefined ? undefined : { authorization: `Bearer ${key}` },
      }),
      model,
      baseUrl: baseUrl(settings),
      fetch,
      maxRetries: 0,
    }) as unknown as ChatModel;
  },
};
