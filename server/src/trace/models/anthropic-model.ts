import { type Adapter, type ChatModel, defined } from "./chat-model.ts";
import { anthropicBlock } from "./content-blocks.ts";
import { loadPackage } from "./load-package.ts";
import { PROVIDERS } from "./providers.ts";

const baseUrl = (settings: Record<string, string>): string =>
  settings["base_url"] ?? PROVIDERS.anthropic.settings[0]!.default!;

export const anthropicAdapter: Adapter = {
  baseUrl,
  toBlock: anthropicBlock,
  cumulativeOutput: true,
  async create({ model, parameters: p, settings, secrets, fetch }) {
    const { ChatAnthropic } = await loadPackage("@langchain/anthropic");
    const budget = p["thinking_budget"] as number | undefined;
    return new ChatAnthropic({
      ...defined({
        temperature: p["temperature"] as number | undefined,
        maxTokens: p["max_tokens"] as number | undefined,
        topP: p["top_p"] as number | undefined,
        topK: p["top_k"] as number | undefined,
        thinking: budget === undefined ? undefined : { type: "enabled" as const, budget_tokens: budget },
      }),
      model,
      anthropicApiKey: secrets["api_key"]!,
      anthropicApiUrl: baseUrl(settings),
      streamUsage: true,
      maxRetries: 0,
      // null, not undefined, for which the client reads the environment
      clientOptions: { fetch, maxRetries: 0, authToken: null, logLevel: "off" },
    }) as unknown as ChatModel;
  },
};
