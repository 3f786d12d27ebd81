/**
 * Adapters of LangChain's embedding classes, by provider. As for chat models, each is loaded at the first call and gets
 * the call's guarded `fetch`; clients that bypass it, or that swallow their errors, are replaced.
 */
import { baseUrl as bedrockUrl, type Constructor, guardedHandler, readCredentials, region } from "./bedrock-model.ts";
import { ADAPTERS } from "./adapters.ts";
import { defined, type ModelTarget } from "./chat-model.ts";
import { loadPackage } from "./load-package.ts";
import { ProviderError } from "./model-error.ts";
import { type ProviderId, PROVIDERS } from "./providers.ts";

/** The part of LangChain's embeddings that calls use. */
export interface EmbeddingModel {
  embedDocuments(texts: string[]): Promise<number[][]>;
}

type Create = (target: ModelTarget) => Promise<EmbeddingModel>;

/** Texts of a request, at most. */
export const MAX_TEXTS = 100;
/** Requests at once, where a provider takes one text each. */
const CONCURRENCY = 4;
/** Characters of an error's body that are read. */
const MAX_ERROR = 64 * 1024;

const shared = { maxRetries: 0, batchSize: MAX_TEXTS, stripNewLines: false } as const;

const openaiConfiguration = ({ settings, fetch }: ModelTarget) => ({
  fetch,
  maxRetries: 0,
  logLevel: "off" as const,
  // null, not undefined, for which the client reads the environment
  organization: settings["organization"] ?? null,
  project: settings["project"] ?? null,
});

const openai =
  (id: ProviderId): Create =>
  async (target) => {
    const { OpenAIEmbeddings } = await loadPackage("@langchain/openai");
    return new OpenAIEmbeddings({
      ...shared,
      model: target.model,
      apiKey: target.secrets["api_key"] ?? "none",
      // base64, the client's default, is not supported by every compatible server
      encodingFormat: "float",
      configuration: { ...openaiConfiguration(target), baseURL: ADAPTERS[id].baseUrl(target.settings) },
    } as never) as unknown as EmbeddingModel;
  };

const azure: Create = async (target) => {
  const { AzureOpenAIEmbeddings } = await loadPackage("@langchain/openai");
  const { model, settings, secrets } = target;
  const endpoint = settings["base_url"]!.replace(/\/+$/, "");
  return new AzureOpenAIEmbeddings({
    ...shared,
    model,
    encodingFormat: "float",
    configuration: openaiConfiguration(target),
    azureOpenAIApiKey: secrets["api_key"]!,
    azureOpenAIBasePath: `${endpoint}/openai/deployments`,
    // the connection's deployment is that of its chat model
    azureOpenAIApiDeploymentName: model,
    azureOpenAIApiVersion: settings["api_version"] ?? PROVIDERS["azure-openai"].settings[1]!.default!,
  } as never) as unknown as EmbeddingModel;
};

interface GoogleClient {
  batchEmbedContents(request: { requests: object[] }): Promise<{ embeddings: { values: number[] }[] }>;
}

/** LangChain's class replaces a failed batch by empty vectors; the failure is thrown afterwards. */
const google: Create = async ({ model, settings, secrets, fetch }) => {
  const { GoogleGenerativeAIEmbeddings } = await loadPackage("@langchain/google-genai");
  const base = ADAPTERS["google-genai"].baseUrl(settings);
  const embeddings = new GoogleGenerativeAIEmbeddings({
    model,
    apiKey: secrets["api_key"]!,
    baseUrl: base,
    maxRetries: 0,
    stripNewLines: false,
  }) as unknown as EmbeddingModel & { client: GoogleClient };
  const failures: unknown[] = [];
  embeddings.client.batchEmbedContents = async ({ requests }) => {
    try {
      const name = `models/${model}`;
      const response = await fetch(`${base}/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-goog-api-key": secrets["api_key"]! },
        body: JSON.stringify({ requests: requests.map((request) => ({ ...request, model: name })) }),
      });
      if (!response.ok) {
        throw new ProviderError(response.status, (await response.text()).slice(0, MAX_ERROR), response.headers);
      }
      return (await response.json()) as { embeddings: { values: number[] }[] };
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  return failing(embeddings, failures);
};

/** LangChain's class prints errors to the console, which may quote the request: they are kept from it and thrown later. */
const bedrock: Create = async ({ model, settings, secrets, fetch }) => {
  const { BedrockEmbeddings } = await loadPackage("@langchain/aws");
  const credentials = readCredentials(secrets);
  const embeddings = new BedrockEmbeddings({
    model,
    region: region(settings),
    credentials,
    maxRetries: 0,
    maxConcurrency: CONCURRENCY,
  }) as unknown as EmbeddingModel & {
    client: { constructor: Constructor; destroy(): void; send(command: object): Promise<object> };
  };
  // its own client could get its endpoint from the environment
  const Client = embeddings.client.constructor;
  embeddings.client.destroy();
  const client = new Client({
    region: region(settings),
    endpoint: bedrockUrl(settings),
    credentials,
    authSchemePreference: ["sigv4"],
    maxAttempts: 1,
    requestHandler: guardedHandler(fetch),
  }) as typeof embeddings.client;
  const failures: unknown[] = [];
  const empty = { body: new TextEncoder().encode('{"embedding":[]}') };
  embeddings.client = {
    send: async (command: object) => {
      if (failures.length > 0) return empty;
      try {
        return await client.send(command);
      } catch (error) {
        failures.push(error);
        return empty;
      }
    },
  } as never;
  return failing(embeddings, failures);
};

const failing = (embeddings: EmbeddingModel, failures: unknown[]): EmbeddingModel => ({
  async embedDocuments(texts) {
    const vectors = await embeddings.embedDocuments(texts);
    if (failures.length > 0) throw failures[0];
    return vectors;
  },
});

const mistral: Create = async ({ model, settings, secrets, fetch }) => {
  const { MistralAIEmbeddings } = await loadPackage("@langchain/mistralai");
  return new MistralAIEmbeddings({
    ...shared,
    model,
    apiKey: secrets["api_key"]!,
    serverURL: ADAPTERS.mistral.baseUrl(settings),
    // the part of Mistral's HTTPClient that its requests use
    httpClient: { request: (request: Request) => fetch(request) } as never,
  } as never) as unknown as EmbeddingModel;
};

const ollama: Create = async ({ model, settings, secrets, fetch }) => {
  const { OllamaEmbeddings } = await loadPackage("@langchain/ollama");
  const key = secrets["api_key"];
  return new OllamaEmbeddings({
    ...defined({ headers: key === undefined ? undefined : { authorization: `Bearer ${key}` } }),
    model,
    baseUrl: ADAPTERS.ollama.baseUrl(settings),
    truncate: true,
    fetch,
    maxRetries: 0,
  } as never) as unknown as EmbeddingModel;
};

export const EMBEDDING_ADAPTERS: Record<ProviderId, Create | undefined> = {
  openai: openai("openai"),
  "openai-responses": openai("openai-responses"),
  "azure-openai": azure,
  anthropic: undefined,
  "google-genai": google,
  bedrock,
  mistral,
  ollama,
  "openai-compatible": openai("openai-compatible"),
};
