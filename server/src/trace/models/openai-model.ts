import { type Adapter, type ChatModel, defined, type ModelTarget } from "./chat-model.ts";
import { responsesBlock, standardBlock } from "./content-blocks.ts";
import { loadPackage } from "./load-package.ts";
import { PROVIDERS } from "./providers.ts";

/** A server without keys gets this one, because the client insists on one. */
const NO_KEY = "none";

const baseUrl = (settings: Record<string, string>): string =>
  settings["base_url"] ?? PROVIDERS.openai.settings[0]!.default!;

function fields({ model, parameters: p, settings, secrets, fetch }: ModelTarget) {
  return {
    ...defined({
      temperature: p["temperature"] as number | undefined,
      maxTokens: p["max_tokens"] as number | undefined,
      topP: p["top_p"] as number | undefined,
      frequencyPenalty: p["frequency_penalty"] as number | undefined,
      presencePenalty: p["presence_penalty"] as number | undefined,
      reasoning: p["reasoning_effort"] === undefined ? undefined : { effort: p["reasoning_effort"] as "low" },
      modelKwargs: p["seed"] === undefined ? undefined : { seed: p["seed"] },
    }),
    model,
    apiKey: secrets["api_key"] ?? NO_KEY,
    streamUsage: true,
    maxRetries: 0,
    configuration: {
      baseURL: baseUrl(settings),
      fetch,
      maxRetries: 0,
      logLevel: "off" as const,
      // null, not undefined, for which the client reads the environment
      organization: settings["organization"] ?? null,
      project: settings["project"] ?? null,
    },
  };
}

const structured = (schema: Record<string, unknown>, name: string) => ({
  response_format: { type: "json_schema", json_schema: { name, schema } },
});

const shared = { structured, baseUrl, toBlock: standardBlock, parallelToolCalls: true } as const;

/** Chat completions, also of servers that are compatible with OpenAI's. */
export const openaiAdapter: Adapter = {
  ...shared,
  async create(target) {
    // not ChatOpenAI, which calls some models through the other API
    const { ChatOpenAICompletions } = await loadPackage("@langchain/openai");
    return new ChatOpenAICompletions(fields(target) as never) as unknown as ChatModel;
  },
};

export const openaiResponsesAdapter: Adapter = {
  ...shared,
  toBlock: responsesBlock,
  async create(target) {
    const { ChatOpenAIResponses } = await loadPackage("@langchain/openai");
    return new ChatOpenAIResponses(fields(target) as never) as unknown as ChatModel;
  },
};

export const azureOpenaiAdapter: Adapter = {
  ...shared,
  baseUrl: (settings) => settings["base_url"]!,
  async create(target) {
    const { AzureChatOpenAICompletions } = await loadPackage("@langchain/openai");
    const { settings, secrets, model } = target;
    const { configuration, ...options } = fields(target);
    const endpoint = settings["base_url"]!.replace(/\/+$/, "");
    const deployment = settings["deployment"] ?? model;
    return new AzureChatOpenAICompletions({
      ...options,
      configuration: { ...configuration, baseURL: undefined },
      azureOpenAIApiKey: secrets["api_key"]!,
      azureOpenAIEndpoint: endpoint,
      azureOpenAIBasePath: `${endpoint}/openai/deployments`,
      azureOpenAIApiDeploymentName: deployment,
      azureOpenAIApiVersion: settings["api_version"] ?? PROVIDERS["azure-openai"].settings[1]!.default!,
    } as never) as unknown as ChatModel;
  },
};
