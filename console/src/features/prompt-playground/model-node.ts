/** Serialized models of prompts that were pushed with their model, and the playground's choices. */
import { type ModelChoice, NO_MODEL } from "./draft.ts";
import type { Node, Prompt } from "./prompt.ts";
import { className, kwargs, modelStep, readTools } from "./read-manifest.ts";
import { writeTools } from "./write-manifest.ts";

/** Classes of LangChain's chat models by provider, the path of each in its package, and its default key. */
const CLASSES: Record<string, { id: string[]; secret?: [field: string, key: string] }> = {
  openai: { id: ["langchain", "chat_models", "openai", "ChatOpenAI"], secret: ["openai_api_key", "OPENAI_API_KEY"] },
  "azure-openai": {
    id: ["langchain", "chat_models", "azure_openai", "AzureChatOpenAI"],
    secret: ["openai_api_key", "AZURE_OPENAI_API_KEY"],
  },
  anthropic: {
    id: ["langchain", "chat_models", "anthropic", "ChatAnthropic"],
    secret: ["anthropic_api_key", "ANTHROPIC_API_KEY"],
  },
  "google-genai": {
    id: ["langchain_google_genai", "chat_models", "ChatGoogleGenerativeAI"],
    secret: ["google_api_key", "GOOGLE_API_KEY"],
  },
  bedrock: { id: ["langchain_aws", "chat_models", "ChatBedrockConverse"] },
  mistral: {
    id: ["langchain", "chat_models", "mistralai", "ChatMistralAI"],
    secret: ["mistral_api_key", "MISTRAL_API_KEY"],
  },
  ollama: { id: ["langchain_ollama", "chat_models", "ChatOllama"] },
};

/** Names that providers have for the model's name. */
const MODEL_FIELDS = ["model", "model_name", "modelName", "model_id"];
/** Parameters of the models' classes under the names of the playground's parameters. */
const PARAMETERS: Record<string, string[]> = {
  temperature: ["temperature"],
  max_tokens: ["max_tokens", "maxTokens", "max_output_tokens", "num_predict"],
  top_p: ["top_p", "topP"],
  stop: ["stop", "stop_sequences"],
};

/** Reads the provider, the model's name and the parameters; what can't be read is left to the user. */
export function readModel(node: Node | null): ModelChoice {
  if (node === null) return NO_MODEL;
  const options = kwargs(node);
  const name = className(node);
  const provider = Object.entries(CLASSES).find(([, { id }]) => id.at(-1) === name)?.[0] ?? null;
  const model = MODEL_FIELDS.map((field) => options[field]).find((value) => typeof value === "string");
  const parameters = Object.entries(PARAMETERS).flatMap(([parameter, fields]) => {
    const value = fields.map((field) => options[field]).find((candidate) => candidate != null);
    return value === undefined ? [] : [[parameter, value] as const];
  });
  return {
    connectionId: null,
    provider,
    model: (model as string | undefined) ?? "",
    parameters: Object.fromEntries(parameters),
  };
}

/** Whether a provider's models can be saved with a prompt. */
export const canSerialize = (provider: string | null): boolean => provider !== null && classOf(provider) !== undefined;

/** OpenAI's two interfaces and compatible servers share a class. */
const classOf = (provider: string) =>
  CLASSES[provider === "openai-responses" || provider === "openai-compatible" ? "openai" : provider];

/**
 * Serializes a choice. The opened model stays as it was while the choice has not changed.
 * @param provider the choice's, or its connection's
 */
export function writeModel(choice: ModelChoice, provider: string, before: Node | null): Node {
  const known = readModel(before);
  const isUnchanged =
    before !== null &&
    known.model === choice.model &&
    JSON.stringify(known.parameters) === JSON.stringify(choice.parameters) &&
    className(before) === classOf(provider)?.id.at(-1);
  if (isUnchanged) return before;
  const { id, secret } = classOf(provider)!;
  // references to secrets by name: values never enter a manifest
  const reference = secret && { [secret[0]]: { lc: 1, type: "secret", id: [secret[1]] } };
  return { lc: 1, type: "constructor", id, kwargs: { model: choice.model, ...choice.parameters, ...reference } };
}

/** Joins a prompt and its model as both SDKs push them with `include_model`. @param manifest the prompt's, without a model */
export function joinModel(manifest: Node, model: Node, prompt: Prompt): Node {
  const tools = writeTools(prompt);
  const { sequence, toolChoice } = prompt;
  const step = modelStep(sequence);
  const binding = className(step) === "RunnableBinding" ? (step as Node) : null;
  const before = binding ? (kwargs(binding)["kwargs"] as Node) : {};
  const options = { ...before, tools, tool_choice: toolChoice };
  if (readTools([], before["tool_choice"]).toolChoice === toolChoice)
    options.tool_choice = before["tool_choice"] as string;
  if (tools.length === 0) delete (options as Node)["tools"];
  if (toolChoice === "") delete (options as Node)["tool_choice"];
  const isBound = binding !== null || Object.keys(options).length > 0;
  const joined = isBound
    ? runnable("RunnableBinding", { ...kwargs(binding), bound: model, kwargs: options }, binding)
    : model;
  if (!sequence) return runnable("RunnableSequence", { first: manifest, last: joined }, null);
  const { middle, last, ...others } = kwargs(sequence);
  const replace = (entry: unknown) => (entry === step ? joined : entry);
  return runnable(
    "RunnableSequence",
    {
      ...others,
      first: manifest,
      ...(Array.isArray(middle) && { middle: middle.map(replace) }),
      last: replace(last),
    },
    sequence,
  );
}

const runnable = (name: string, options: Record<string, unknown>, before: Node | null): Node => ({
  lc: 1,
  type: "constructor",
  id: ["langchain", "schema", "runnable", name],
  ...before,
  kwargs: options,
});
