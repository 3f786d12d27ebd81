/**
 * Reads the manifest of a prompt's commit: an object in the serialization of LangChain (`lc`, `type`, `id`, `kwargs`),
 * optionally in a sequence with a model. Nothing is instantiated. Values of unknown classes are kept as they are.
 */
import { listVariables, readFormat, type TemplateFormat } from "./template.ts";

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A serialized object of LangChain. */
export interface Constructor {
  lc: 1;
  type: "constructor";
  id: string[];
  kwargs: Fields;
}

const isConstructor = (value: unknown): value is Constructor =>
  isObject(value) && value["lc"] === 1 && Array.isArray(value["id"]) && isObject(value["kwargs"]);

/** Returns the name of the class of a serialized object. */
export const className = (value: unknown): string | null => (isConstructor(value) ? String(value.id.at(-1)) : null);

export type Role = "system" | "human" | "ai" | "tool" | "other";

/** Text of a template, an image, or a part of another type. */
export type ContentPart =
  | { kind: "text"; text: string; format: TemplateFormat }
  | { kind: "image"; url: string; format: TemplateFormat }
  | { kind: "other"; value: unknown };

export interface FewShot {
  examples: Fields[];
  prefix: string;
  suffix: string;
  separator: string;
  format: TemplateFormat;
  /** Template of one example: text, or messages. */
  exampleText: string | null;
  exampleMessages: PromptMessage[];
  /** Whether the examples come from a selector, which a manifest cannot contain. */
  hasSelector: boolean;
}

export type PromptMessage =
  | { kind: "template"; role: Role; label: string; parts: ContentPart[]; source: unknown }
  | { kind: "placeholder"; variable: string; isOptional: boolean; source: unknown }
  | { kind: "examples"; fewShot: FewShot; source: unknown }
  | { kind: "unknown"; source: unknown };

export interface Model {
  /** Class, such as `ChatOpenAI`. */
  name: string;
  /** Name of the model, such as `gpt-4o`. */
  model: string | null;
  /** Parameters without secrets. */
  parameters: Fields;
  /** Names of the secrets that the model reads, such as `OPENAI_API_KEY`. */
  secrets: string[];
  tools: unknown[];
  /** Other arguments that are bound to the model. */
  bound: Fields;
}

export type PromptKind = "chat" | "string" | "structured" | "few-shot" | "unknown";

export interface Prompt {
  kind: PromptKind;
  messages: PromptMessage[];
  /** Input variables, without those that have a partial value. */
  variables: string[];
  partials: Fields;
  /** JSON schema of a structured prompt. */
  schema: unknown;
  model: Model | null;
}

const NONE: Prompt = { kind: "unknown", messages: [], variables: [], partials: {}, schema: null, model: null };

export function readPrompt(manifest: unknown): Prompt {
  const { prompt, model } = splitSequence(manifest);
  return { ...readTemplate(prompt), model: model === null ? null : readModel(model) };
}

/** Separates the prompt of a sequence from its model. */
function splitSequence(manifest: unknown): { prompt: unknown; model: unknown } {
  if (className(manifest) !== "RunnableSequence") return { prompt: manifest, model: null };
  const { first, middle, last } = (manifest as Constructor).kwargs;
  const rest = [...(Array.isArray(middle) ? (middle as unknown[]) : []), last];
  return { prompt: first, model: rest.find((part) => isModel(part)) ?? null };
}

const isModel = (value: unknown): boolean =>
  className(value) === "RunnableBinding"
    ? isModel((value as Constructor).kwargs["bound"])
    : isConstructor(value) && !/Parser|Prompt|Lambda|Passthrough/.test(className(value)!);

function readTemplate(prompt: unknown): Omit<Prompt, "model"> {
  if (!isConstructor(prompt)) return NONE;
  const { kwargs } = prompt;
  const partials = isObject(kwargs["partial_variables"]) ? kwargs["partial_variables"] : {};
  const withVariables = (kind: PromptKind, messages: PromptMessage[], schema: unknown = null) => ({
    kind,
    messages,
    variables: listPromptVariables(messages, kwargs["input_variables"]).filter(
      (name) => !Object.hasOwn(partials, name),
    ),
    partials,
    schema,
  });
  const name = className(prompt)!;
  if (name === "PromptTemplate") {
    return withVariables("string", [
      { kind: "template", role: "other", label: "Text", parts: [readText(kwargs)], source: prompt },
    ]);
  }
  if (name === "FewShotPromptTemplate") {
    return withVariables("few-shot", [{ kind: "examples", fewShot: readFewShot(kwargs), source: prompt }]);
  }
  if (name === "FewShotChatMessagePromptTemplate") return withVariables("few-shot", [readMessage(prompt)]);
  if (name === "ChatPromptTemplate" || name === "StructuredPrompt") {
    const list = kwargs["messages"] ?? kwargs["prompt_messages"];
    const messages = Array.isArray(list) ? list.map(readMessage) : [];
    const isStructured = name === "StructuredPrompt";
    return withVariables(
      isStructured ? "structured" : "chat",
      messages,
      isStructured ? (kwargs["schema_"] ?? kwargs["schema"] ?? null) : null,
    );
  }
  return NONE;
}

const TEMPLATE_ROLES: Record<string, [Role, string]> = {
  SystemMessagePromptTemplate: ["system", "System"],
  HumanMessagePromptTemplate: ["human", "Human"],
  AIMessagePromptTemplate: ["ai", "AI"],
  ChatMessagePromptTemplate: ["other", "Other"],
  SystemMessage: ["system", "System"],
  HumanMessage: ["human", "Human"],
  AIMessage: ["ai", "AI"],
  ToolMessage: ["tool", "Tool"],
  ChatMessage: ["other", "Other"],
};

export function readMessage(source: unknown): PromptMessage {
  const name = className(source);
  if (name === null) return { kind: "unknown", source };
  const { kwargs } = source as Constructor;
  if (name === "MessagesPlaceholder") {
    const variable = typeof kwargs["variable_name"] === "string" ? kwargs["variable_name"] : "messages";
    return { kind: "placeholder", variable, isOptional: kwargs["optional"] === true, source };
  }
  if (name.startsWith("FewShot")) return { kind: "examples", fewShot: readFewShot(kwargs), source };
  const known = TEMPLATE_ROLES[name];
  if (!known) return { kind: "unknown", source };
  const label = typeof kwargs["role"] === "string" ? kwargs["role"] : known[1];
  const { prompt } = kwargs;
  const parts = name.endsWith("PromptTemplate")
    ? (Array.isArray(prompt) ? prompt : [prompt]).map(readPart)
    : readLiteral(kwargs["content"]);
  return { kind: "template", role: known[0], label, parts, source };
}

function readPart(part: unknown): ContentPart {
  if (!isConstructor(part)) return { kind: "other", value: part };
  if (className(part) === "PromptTemplate") return readText(part.kwargs);
  if (className(part) === "ImagePromptTemplate") {
    const template = part.kwargs["template"];
    const url = isObject(template) ? template["url"] : template;
    if (typeof url === "string") return { kind: "image", url, format: readFormat(part.kwargs["template_format"]) };
  }
  return { kind: "other", value: part };
}

const readText = (kwargs: Fields): ContentPart => ({
  kind: "text",
  text: typeof kwargs["template"] === "string" ? kwargs["template"] : "",
  format: readFormat(kwargs["template_format"]),
});

/** Content of a message that is not a template: shown without variables. */
function readLiteral(content: unknown): ContentPart[] {
  const parts = Array.isArray(content) ? (content as unknown[]) : [content];
  return parts.map((part) => ({
    kind: "other",
    value: isObject(part) && part["type"] === "text" ? part["text"] : part,
  }));
}

function readFewShot(kwargs: Fields): FewShot {
  const example = kwargs["example_prompt"];
  const text = (name: string) => (typeof kwargs[name] === "string" ? kwargs[name] : "");
  const fields = isConstructor(example) ? example.kwargs : {};
  const list = fields["messages"] ?? fields["prompt_messages"];
  const single = isConstructor(example) && TEMPLATE_ROLES[className(example)!] ? [example] : [];
  return {
    examples: Array.isArray(kwargs["examples"]) ? kwargs["examples"].filter(isObject) : [],
    prefix: text("prefix"),
    suffix: text("suffix"),
    separator: text("example_separator") || "\n\n",
    format: readFormat(kwargs["template_format"] ?? fields["template_format"]),
    exampleText: typeof fields["template"] === "string" ? fields["template"] : null,
    exampleMessages: (Array.isArray(list) ? list : single).map(readMessage),
    hasSelector: kwargs["example_selector"] != null,
  };
}

/** Variables of the messages in order, then declared ones that no text mentions. */
function listPromptVariables(messages: PromptMessage[], declared: unknown): string[] {
  const found = messages.flatMap((message): string[] => {
    if (message.kind === "placeholder") return [message.variable];
    if (message.kind === "examples") {
      const { prefix, suffix, format } = message.fewShot;
      return [...listVariables(prefix, format), ...listVariables(suffix, format)];
    }
    if (message.kind !== "template") return [];
    return message.parts.flatMap((part) =>
      part.kind === "other" ? [] : listVariables(part.kind === "text" ? part.text : part.url, part.format),
    );
  });
  const names = Array.isArray(declared) ? declared.filter((name): name is string => typeof name === "string") : [];
  return [...new Set([...found, ...names])];
}

const isSecret = (value: unknown): value is { id: string[] } =>
  isObject(value) && value["lc"] === 1 && value["type"] === "secret" && Array.isArray(value["id"]);

function readModel(value: unknown): Model {
  if (className(value) === "RunnableBinding") {
    const { bound, kwargs } = (value as Constructor).kwargs;
    const { tools, ...rest } = isObject(kwargs) ? kwargs : {};
    const model = readModel(bound);
    return {
      ...model,
      tools: [...model.tools, ...(Array.isArray(tools) ? (tools as unknown[]) : [])],
      bound: { ...model.bound, ...rest },
    };
  }
  const { kwargs } = value as Constructor;
  const secrets = Object.values(kwargs).flatMap((entry) => (isSecret(entry) ? [String(entry.id[0])] : []));
  const named = kwargs["model"] ?? kwargs["model_name"] ?? kwargs["model_id"] ?? kwargs["deployment_name"];
  const parameters = Object.fromEntries(
    Object.entries(kwargs).filter(
      ([name, entry]) => !isSecret(entry) && entry !== null && !/^(model|model_name|model_id)$/.test(name),
    ),
  );
  return {
    name: className(value) ?? "Model",
    model: typeof named === "string" ? named : null,
    parameters,
    secrets,
    tools: [],
    bound: {},
  };
}

/** Returns the text of a message, its parts separated by blank lines. */
export function messageText(message: PromptMessage): string {
  if (message.kind === "placeholder") return `{${message.variable}}`;
  if (message.kind !== "template") return JSON.stringify(message.source, null, 2);
  return message.parts
    .map((part) => {
      if (part.kind === "text") return part.text;
      if (part.kind === "image") return part.url;
      return typeof part.value === "string" ? part.value : JSON.stringify(part.value, null, 2);
    })
    .join("\n\n");
}
