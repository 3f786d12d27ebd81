import { type Adapter, type ChatModel, defined } from "./chat-model.ts";
import { imageUrlBlock } from "./content-blocks.ts";
import { loadPackage } from "./load-package.ts";
import { PROVIDERS } from "./providers.ts";

const baseUrl = (settings: Record<string, string>): string =>
  (settings["base_url"] ?? PROVIDERS.mistral.settings[0]!.default!).replace(/\/+(v1\/?)?$/, "");

const CHOICES = ["auto", "none", "any"];

export const mistralAdapter: Adapter = {
  baseUrl,
  toBlock: imageUrlBlock,
  structured: (schema, name) => ({
    response_format: { type: "json_schema", jsonSchema: { name, schemaDefinition: schema, strict: false } },
  }),
  toolChoice: (choice) => (CHOICES.includes(choice) ? choice : { type: "function", function: { name: choice } }),
  async create({ model, parameters: p, settings, secrets, fetch }) {
    const { ChatMistralAI } = await loadPackage("@langchain/mistralai");
    const httpClient = { request: (request: Request) => fetch(request) };
    return new ChatMistralAI({
      ...defined({
        temperature: p["temperature"] as number | undefined,
        maxTokens: p["max_tokens"] as number | undefined,
        topP: p["top_p"] as number | undefined,
        frequencyPenalty: p["frequency_penalty"] as number | undefined,
        presencePenalty: p["presence_penalty"] as number | undefined,
        seed: p["seed"] as number | undefined,
      }),
      model,
      apiKey: secrets["api_key"]!,
      serverURL: baseUrl(settings),
      streamUsage: true,
      maxRetries: 0,
      // the part of Mistral's HTTPClient that its requests use
      httpClient: httpClient as never,
    }) as unknown as ChatModel;
  },
};
