/**
 * Providers of models, as data: the package that calls them, the secrets and settings of a connection, the parameters
 * of a call, and the constructors by which LangChain's manifests name them.
 */

export const PROVIDER_IDS = [
  "openai",
  "openai-responses",
  "azure-openai",
  "anthropic",
  "google-genai",
  "bedrock",
  "mistral",
  "ollama",
  "openai-compatible",
] as const;
export type ProviderId = (typeof PROVIDER_IDS)[number];

export type PackageName =
  | "@langchain/openai"
  | "@langchain/anthropic"
  | "@langchain/google-genai"
  | "@langchain/aws"
  | "@langchain/mistralai"
  | "@langchain/ollama";

/** Versions that are tested, named in messages about a missing package. */
const PACKAGE_VERSIONS: Record<PackageName, string> = {
  "@langchain/openai": "1.5.8",
  "@langchain/anthropic": "1.5.11",
  "@langchain/google-genai": "2.3.2",
  "@langchain/aws": "1.4.5",
  "@langchain/mistralai": "1.2.0",
  "@langchain/ollama": "1.3.0",
};

interface Secret {
  /** Name in a connection's `secrets`. */
  name: string;
  /** Key of the workspace secret that is used unless the connection names another. */
  key: string;
  required: boolean;
  description: string;
}

interface Setting {
  name: string;
  type: "string";
  required: boolean;
  default: string | null;
  description: string;
}

interface Parameter {
  type: "number" | "integer" | "string" | "array";
  minimum?: number;
  maximum?: number;
  enum?: string[];
  items?: { type: "string" };
  maxItems?: number;
  description: string;
}

export interface Provider {
  id: ProviderId;
  name: string;
  package: PackageName;
  /** Value of `ls_provider` in traces, which prices match. */
  lsProvider: string;
  secrets: Secret[];
  settings: Setting[];
  parameters: Record<string, Parameter>;
  supports: {
    tools: true;
    tool_choice: boolean;
    response_schema: true;
    images: boolean;
    files: boolean;
    list_models: boolean;
    embeddings: boolean;
  };
  /** Suggested models; any name is accepted. */
  models: string[];
  /** Suggested models that embed texts, the default first; empty where the provider has none. */
  embeddingModels: string[];
  /** Class names in manifests, the last part of a constructor's id. */
  constructors: string[];
  /** Whether calls without a price are permitted in a workspace with a budget: models that run on own machines. */
  mayBeFree: boolean;
}

const apiKey = (key: string, name: string, required = true): Secret => ({
  name: "api_key",
  key,
  required,
  description: `API key of ${name}`,
});

const text = (name: string, description: string, byDefault: string | null = null, required = false): Setting => ({
  name,
  type: "string",
  required,
  default: byDefault,
  description,
});

const baseUrl = (byDefault: string | null, required = false): Setting =>
  text(
    "base_url",
    "URL of the API. Addresses that are not public must be in HEDDLE_OUTBOUND_ALLOW.",
    byDefault,
    required,
  );

const temperature: Parameter = {
  type: "number",
  minimum: 0,
  maximum: 2,
  description: "Randomness of the answer; 0 is the most deterministic",
};
const maxTokens: Parameter = {
  type: "integer",
  minimum: 1,
  maximum: 1_000_000,
  description: "Maximum number of tokens of the answer",
};
const topP: Parameter = {
  type: "number",
  minimum: 0,
  maximum: 1,
  description: "Considers only the most probable tokens whose probabilities add up to this",
};
const topK: Parameter = {
  type: "integer",
  minimum: 1,
  maximum: 1000,
  description: "Considers only this many of the most probable tokens",
};
const stop: Parameter = {
  type: "array",
  items: { type: "string" },
  maxItems: 16,
  description: "Texts at which the answer ends",
};
const seed: Parameter = {
  type: "integer",
  minimum: 0,
  maximum: 2_147_483_647,
  description: "Seed for repeatable answers, as far as the provider supports it",
};
const penalty = (what: string): Parameter => ({ type: "number", minimum: -2, maximum: 2, description: what });
const effort: Parameter = {
  type: "string",
  enum: ["none", "minimal", "low", "medium", "high", "xhigh"],
  description: "Effort of models that reason",
};

const OPENAI_PARAMETERS = {
  temperature,
  max_tokens: maxTokens,
  top_p: topP,
  frequency_penalty: penalty("Lowers the probability of tokens by their frequency"),
  presence_penalty: penalty("Lowers the probability of tokens that have occurred"),
  stop,
  seed,
  reasoning_effort: effort,
};

const RESPONSES_PARAMETERS = { temperature, max_tokens: maxTokens, top_p: topP, reasoning_effort: effort };

const ALL = { tools: true, tool_choice: true, response_schema: true, images: true, files: true } as const;

const OPENAI_EMBEDDINGS = ["text-embedding-3-small", "text-embedding-3-large"];

const OPENAI_MODELS = ["gpt-5.2", "gpt-5-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4o-mini"];

export const PROVIDERS: Record<ProviderId, Provider> = {
  openai: {
    id: "openai",
    name: "OpenAI",
    package: "@langchain/openai",
    lsProvider: "openai",
    secrets: [apiKey("OPENAI_API_KEY", "OpenAI")],
    settings: [
      baseUrl("https://api.openai.com/v1"),
      text("organization", "Organization that is billed"),
      text("project", "Project that is billed"),
    ],
    parameters: OPENAI_PARAMETERS,
    supports: { ...ALL, list_models: true, embeddings: true },
    models: OPENAI_MODELS,
    embeddingModels: OPENAI_EMBEDDINGS,
    constructors: ["ChatOpenAI"],
    mayBeFree: false,
  },
  "openai-responses": {
    id: "openai-responses",
    name: "OpenAI (responses)",
    package: "@langchain/openai",
    lsProvider: "openai",
    secrets: [apiKey("OPENAI_API_KEY", "OpenAI")],
    settings: [
      baseUrl("https://api.openai.com/v1"),
      text("organization", "Organization that is billed"),
      text("project", "Project that is billed"),
    ],
    parameters: RESPONSES_PARAMETERS,
    supports: { ...ALL, list_models: true, embeddings: true },
    models: OPENAI_MODELS,
    embeddingModels: OPENAI_EMBEDDINGS,
    constructors: [],
    mayBeFree: false,
  },
  "azure-openai": {
    id: "azure-openai",
    name: "Azure OpenAI",
    package: "@langchain/openai",
    lsProvider: "azure",
    secrets: [apiKey("AZURE_OPENAI_API_KEY", "Azure OpenAI")],
    settings: [
      text("base_url", "Endpoint: https://<resource>.openai.azure.com", null, true),
      text("api_version", "Version of the API", "2024-10-21"),
      text("deployment", "Name of the deployment; default: the model's name"),
    ],
    parameters: OPENAI_PARAMETERS,
    supports: { ...ALL, list_models: false, embeddings: true },
    models: [],
    embeddingModels: OPENAI_EMBEDDINGS,
    constructors: ["AzureChatOpenAI"],
    mayBeFree: false,
  },
  anthropic: {
    id: "anthropic",
    name: "Anthropic",
    package: "@langchain/anthropic",
    lsProvider: "anthropic",
    secrets: [apiKey("ANTHROPIC_API_KEY", "Anthropic")],
    settings: [baseUrl("https://api.anthropic.com")],
    parameters: {
      temperature: { ...temperature, maximum: 1 },
      max_tokens: maxTokens,
      top_p: topP,
      top_k: topK,
      stop,
      thinking_budget: {
        type: "integer",
        minimum: 1024,
        maximum: 100_000,
        description: "Tokens that the model may use for thinking; must be less than max_tokens",
      },
    },
    supports: { ...ALL, list_models: true, embeddings: false },
    models: ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5"],
    embeddingModels: [],
    constructors: ["ChatAnthropic", "ChatAnthropicMessages"],
    mayBeFree: false,
  },
  "google-genai": {
    id: "google-genai",
    name: "Google Gemini",
    package: "@langchain/google-genai",
    lsProvider: "google_genai",
    secrets: [apiKey("GOOGLE_API_KEY", "Google")],
    settings: [baseUrl("https://generativelanguage.googleapis.com")],
    parameters: { temperature, max_tokens: maxTokens, top_p: topP, top_k: topK, stop },
    supports: { ...ALL, list_models: true, embeddings: true },
    models: ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"],
    embeddingModels: ["gemini-embedding-001"],
    constructors: ["ChatGoogleGenerativeAI"],
    mayBeFree: false,
  },
  bedrock: {
    id: "bedrock",
    name: "AWS Bedrock",
    package: "@langchain/aws",
    lsProvider: "amazon_bedrock",
    secrets: [
      { name: "access_key_id", key: "AWS_ACCESS_KEY_ID", required: true, description: "Access key of an IAM user" },
      { name: "secret_access_key", key: "AWS_SECRET_ACCESS_KEY", required: true, description: "Its secret key" },
      {
        name: "session_token",
        key: "AWS_SESSION_TOKEN",
        required: false,
        description: "Session token of temporary credentials",
      },
    ],
    settings: [text("region", "AWS region", "us-east-1"), baseUrl(null)],
    parameters: { temperature: { ...temperature, maximum: 1 }, max_tokens: maxTokens, top_p: topP, stop },
    supports: { ...ALL, list_models: false, embeddings: true },
    models: ["anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-pro-v1:0", "amazon.nova-lite-v1:0"],
    embeddingModels: ["amazon.titan-embed-text-v2:0"],
    constructors: ["ChatBedrockConverse"],
    mayBeFree: false,
  },
  mistral: {
    id: "mistral",
    name: "Mistral",
    package: "@langchain/mistralai",
    lsProvider: "mistral",
    secrets: [apiKey("MISTRAL_API_KEY", "Mistral")],
    settings: [baseUrl("https://api.mistral.ai")],
    parameters: {
      temperature: { ...temperature, maximum: 1.5 },
      max_tokens: maxTokens,
      top_p: topP,
      frequency_penalty: penalty("Lowers the probability of tokens by their frequency"),
      presence_penalty: penalty("Lowers the probability of tokens that have occurred"),
      seed,
    },
    supports: { ...ALL, files: false, list_models: true, embeddings: true },
    models: ["mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"],
    embeddingModels: ["mistral-embed"],
    constructors: ["ChatMistralAI"],
    mayBeFree: false,
  },
  ollama: {
    id: "ollama",
    name: "Ollama",
    package: "@langchain/ollama",
    lsProvider: "ollama",
    secrets: [apiKey("OLLAMA_API_KEY", "a proxy before Ollama", false)],
    settings: [baseUrl("http://127.0.0.1:11434")],
    parameters: {
      temperature,
      max_tokens: maxTokens,
      top_p: topP,
      top_k: topK,
      seed,
      stop,
      context_length: {
        type: "integer",
        minimum: 256,
        maximum: 1_000_000,
        description: "Size of the context window in tokens",
      },
    },
    supports: { ...ALL, tool_choice: false, files: false, list_models: true, embeddings: true },
    models: ["llama3.2", "qwen3", "gemma3"],
    embeddingModels: ["nomic-embed-text", "mxbai-embed-large"],
    constructors: ["ChatOllama"],
    mayBeFree: true,
  },
  "openai-compatible": {
    id: "openai-compatible",
    name: "OpenAI-compatible",
    package: "@langchain/openai",
    lsProvider: "openai-compatible",
    secrets: [apiKey("OPENAI_COMPATIBLE_API_KEY", "the server", false)],
    settings: [baseUrl(null, true)],
    parameters: OPENAI_PARAMETERS,
    supports: { ...ALL, list_models: true, embeddings: true },
    models: [],
    embeddingModels: [],
    constructors: [],
    mayBeFree: true,
  },
};

export const isProviderId = (id: string): id is ProviderId => Object.hasOwn(PROVIDERS, id);

/** Returns the provider that a manifest's constructor names. */
export const providerByConstructor = (name: string): Provider | undefined =>
  Object.values(PROVIDERS).find(({ constructors }) => constructors.includes(name));

export const installCommand = (name: PackageName): string =>
  `npm install ${name}@${PACKAGE_VERSIONS[name]} @langchain/core`;
