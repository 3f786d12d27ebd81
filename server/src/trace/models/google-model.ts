import { readSseData } from "./read-sse.ts";
import { type Adapter, type ChatModel, defined } from "./chat-model.ts";
import { standardBlock } from "./content-blocks.ts";
import { loadPackage } from "./load-package.ts";
import { ProviderError } from "./model-error.ts";
import { PROVIDERS } from "./providers.ts";

const baseUrl = (settings: Record<string, string>): string =>
  (settings["base_url"] ?? PROVIDERS["google-genai"].settings[0]!.default!).replace(/\/+$/, "");

/** Characters of an error's body that are read. */
const MAX_ERROR = 64 * 1024;

interface GoogleClient {
  safetySettings?: unknown;
  generationConfig: object;
  generateContentStream(request: object, options?: object): Promise<{ stream: AsyncIterable<unknown> }>;
}

/**
 * Gemini. Google's own client always calls the global `fetch`, which is not guarded: its method that streams is replaced
 * by one on ours, and LangChain's conversion of requests and responses stays.
 */
export const googleAdapter: Adapter = {
  baseUrl,
  toBlock: standardBlock,
  structured: (schema) => ({ responseSchema: schema }),
  async create({ model, parameters: p, settings, secrets, fetch }) {
    const { ChatGoogleGenerativeAI } = await loadPackage("@langchain/google-genai");
    const chat = new ChatGoogleGenerativeAI({
      ...defined({
        temperature: p["temperature"] as number | undefined,
        maxOutputTokens: p["max_tokens"] as number | undefined,
        topP: p["top_p"] as number | undefined,
        topK: p["top_k"] as number | undefined,
        stopSequences: p["stop"] as string[] | undefined,
      }),
      model,
      apiKey: secrets["api_key"]!,
      baseUrl: baseUrl(settings),
      maxRetries: 0,
    }) as unknown as ChatModel & { client: GoogleClient };
    const { client } = chat;
    client.generateContentStream = async (request, options) => {
      const { signal } = (options ?? {}) as { signal?: AbortSignal };
      const response = await fetch(
        `${baseUrl(settings)}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
        {
          method: "POST",
          headers: { "content-type": "application/json", "x-goog-api-key": secrets["api_key"]! },
          body: JSON.stringify({ generationConfig: client.generationConfig, ...request }),
          ...(signal && { signal }),
        },
      );
      if (!response.ok || !response.body) {
        throw new ProviderError(response.status, (await response.text()).slice(0, MAX_ERROR), response.headers);
      }
      return { stream: readSseData(response.body) };
    };
    return chat;
  },
};
