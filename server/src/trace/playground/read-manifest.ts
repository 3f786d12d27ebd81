/**
 * Reads LangChain's serialized prompts and models as plain JSON, by the ids of their constructors. Nothing of a manifest
 * is executed or loaded: what is not known here is rejected, or named in the notes.
 */
import { unprocessable } from "../../base/errors.ts";
import {
  type ContentBlock,
  contentBlock,
  MAX_MESSAGES,
  MAX_TOOLS,
  type ModelConfiguration,
  tool,
  type Tool,
} from "../models/message-schema.ts";
import { readModelManifest } from "./read-model-manifest.ts";
import type { MessageTemplate, Prompt, PromptPart } from "./prompt.ts";
import { asText, readFormat, type TemplateFormat } from "./render-template.ts";

type Json = Record<string, unknown>;

export interface ReadManifest {
  prompt: Prompt;
  tools: Tool[];
  toolChoice?: string | undefined;
  responseSchema?: Json | undefined;
  model?: ModelConfiguration | undefined;
  notes: string[];
}

/** Nesting of prompts within prompts. */
const MAX_DEPTH = 10;

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Returns the class name and the arguments of a serialized object; undefined for anything else. */
export function readConstructor(value: unknown): { name: string; kwargs: Json } | undefined {
  if (!isObject(value) || value["type"] !== "constructor" || !Array.isArray(value["id"])) return undefined;
  const name: unknown = value["id"].at(-1);
  return typeof name === "string" ? { name, kwargs: isObject(value["kwargs"]) ? value["kwargs"] : {} } : undefined;
}

/** @throws 422 for what is no prompt, or one that is not supported */
export function readManifest(manifest: unknown, where: string): ReadManifest {
  const read: ReadManifest = { prompt: { parts: [], defaults: {} }, tools: [], notes: [] };
  const root = readConstructor(manifest);
  if (!root) throw unprocessable(`${where}: is no serialized prompt of LangChain`);
  if (root.name === "RunnableSequence") {
    const { first, middle, last } = root.kwargs;
    const steps = [first, ...(Array.isArray(middle) ? (middle as unknown[]) : []), last].filter((step) => step != null);
    if (steps.length === 0 || steps.length > 3) throw unprocessable(`${where}: must be a prompt and a model`);
    readPrompt(steps[0], `${where}.kwargs.first`, read);
    if (steps[1] !== undefined) readBoundModel(steps[1], `${where}.kwargs.last`, read);
    if (steps[2] !== undefined) read.notes.push("the parser after the model was left out");
    return read;
  }
  readPrompt(manifest, where, read);
  return read;
}

function readPrompt(value: unknown, where: string, read: ReadManifest): void {
  const found = readConstructor(value);
  if (!found) throw unprocessable(`${where}: is no serialized prompt of LangChain`);
  const { name, kwargs } = found;
  if (name === "StructuredPrompt") {
    const schema = kwargs["schema_"] ?? kwargs["schema"];
    if (!isObject(schema)) throw unprocessable(`${where}.kwargs.schema_: must be a JSON schema`);
    read.responseSchema = schema;
  }
  read.prompt.parts = promptParts(name, kwargs, where, read, 0);
}

function promptParts(name: string, kwargs: Json, where: string, read: ReadManifest, depth: number): PromptPart[] {
  if (depth > MAX_DEPTH) throw unprocessable(`${where}: prompts are nested deeper than ${MAX_DEPTH}`);
  addDefaults(kwargs, read);
  switch (name) {
    case "ChatPromptTemplate":
    case "StructuredPrompt": {
      const messages = kwargs["messages"] ?? kwargs["prompt_messages"] ?? kwargs["promptMessages"];
      if (!Array.isArray(messages)) throw unprocessable(`${where}.kwargs.messages: must be a list`);
      const parts = messages.flatMap((item: unknown, i) =>
        messageParts(item, `${where}.kwargs.messages.${i}`, read, depth + 1),
      );
      if (parts.length > MAX_MESSAGES) throw unprocessable(`${where}: more than ${MAX_MESSAGES} messages`);
      return parts;
    }
    case "PromptTemplate": {
      const { text, format } = readStringTemplate(kwargs, where);
      return [{ kind: "message", message: { role: "user" }, content: text, format }];
    }
    case "FewShotPromptTemplate":
      return [fewShotText(kwargs, where)];
    default:
      throw unprocessable(`${where}: prompts of the class ${name.slice(0, 100)} are not supported`);
  }
}

/** Adds the values that a template has of its variables. */
function addDefaults(kwargs: Json | undefined, { prompt }: ReadManifest): void {
  if (!isObject(kwargs?.["partial_variables"])) return;
  prompt.defaults = { ...prompt.defaults, ...kwargs["partial_variables"] };
}

const ROLES_OF_TEMPLATES: Record<string, "system" | "user" | "assistant"> = {
  SystemMessagePromptTemplate: "system",
  HumanMessagePromptTemplate: "user",
  AIMessagePromptTemplate: "assistant",
};
const ROLES_OF_MESSAGES: Record<string, "system" | "user" | "assistant" | "tool"> = {
  SystemMessage: "system",
  HumanMessage: "user",
  AIMessage: "assistant",
  ToolMessage: "tool",
};
const ROLES_BY_NAME: Record<string, "system" | "user" | "assistant"> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
};

function messageParts(value: unknown, where: string, read: ReadManifest, depth: number): PromptPart[] {
  const found = readConstructor(value);
  if (!found) throw unprocessable(`${where}: is no serialized message of LangChain`);
  const { name, kwargs } = found;
  if (name === "MessagesPlaceholder") {
    const variable = kwargs["variable_name"] ?? kwargs["variableName"];
    if (typeof variable !== "string") throw unprocessable(`${where}.kwargs.variable_name: must be text`);
    const last = kwargs["n_messages"];
    return [
      {
        kind: "placeholder",
        variable,
        optional: kwargs["optional"] === true,
        ...(Number.isInteger(last) && (last as number) > 0 && { last: last as number }),
      },
    ];
  }
  if (name === "FewShotChatMessagePromptTemplate") return fewShotMessages(kwargs, where, read, depth);
  if (name === "ChatPromptTemplate") return promptParts(name, kwargs, where, read, depth);
  const own = Object.hasOwn(ROLES_OF_TEMPLATES, name) ? ROLES_OF_TEMPLATES[name] : undefined;
  if (own !== undefined) return [templateMessage(own, kwargs["prompt"], where, read)];
  const byName = String(kwargs["role"]).toLowerCase();
  const role = Object.hasOwn(ROLES_BY_NAME, byName) ? ROLES_BY_NAME[byName] : undefined;
  if (name === "ChatMessagePromptTemplate" && role) return [templateMessage(role, kwargs["prompt"], where, read)];
  const fixed = Object.hasOwn(ROLES_OF_MESSAGES, name) ? ROLES_OF_MESSAGES[name] : undefined;
  const spoken = fixed ?? (name === "ChatMessage" ? role : undefined);
  if (spoken === undefined)
    throw unprocessable(`${where}: messages of the class ${name.slice(0, 100)} are not supported`);
  return [fixedMessage(spoken, kwargs, where)];
}

function templateMessage(
  role: "system" | "user" | "assistant",
  prompt: unknown,
  where: string,
  read: ReadManifest,
): MessageTemplate {
  if (!Array.isArray(prompt)) {
    const found = readConstructor(prompt);
    addDefaults(found?.kwargs, read);
    const { text, format } = readStringTemplate(found?.kwargs, `${where}.kwargs.prompt`);
    return { kind: "message", message: { role }, content: text, format };
  }
  let format: TemplateFormat = "f-string";
  const content = prompt.map((item: unknown, i): ContentBlock | { raw: Json } => {
    const place = `${where}.kwargs.prompt.${i}`;
    const found = readConstructor(item);
    if (!found) throw unprocessable(`${place}: is no serialized template of LangChain`);
    addDefaults(found.kwargs, read);
    format = readFormat(found.kwargs["template_format"] ?? found.kwargs["templateFormat"] ?? "f-string", place);
    const { template } = found.kwargs;
    if (found.name === "PromptTemplate" && typeof template === "string") return { type: "text", text: template };
    if (found.name === "ImagePromptTemplate") {
      const { url, detail } = isObject(template) ? template : { url: template };
      if (typeof url !== "string") throw unprocessable(`${place}.kwargs.template.url: must be text`);
      return { raw: { type: "image_url", image_url: { url, ...(typeof detail === "string" && { detail }) } } };
    }
    if (found.name === "DictPromptTemplate" && isObject(template)) return { raw: template };
    throw unprocessable(`${place}: templates of the class ${found.name.slice(0, 100)} are not supported`);
  });
  return { kind: "message", message: { role }, content, format };
}

function fixedMessage(role: "system" | "user" | "assistant" | "tool", kwargs: Json, where: string): MessageTemplate {
  const { content, tool_calls: calls, tool_call_id: callId, name } = kwargs;
  const blocks = Array.isArray(content)
    ? content.map((block: unknown, i) => {
        const read = contentBlock.safeParse(typeof block === "string" ? { type: "text", text: block } : block);
        if (!read.success) throw unprocessable(`${where}.kwargs.content.${i}: is no text, image, file or audio block`);
        return read.data;
      })
    : asText(content ?? "");
  const tool_calls = Array.isArray(calls)
    ? calls.slice(0, MAX_TOOLS).flatMap((call: unknown) => {
        if (!isObject(call) || typeof call["name"] !== "string") return [];
        const id = typeof call["id"] === "string" ? { id: call["id"] } : {};
        return [{ ...id, name: call["name"], args: isObject(call["args"]) ? call["args"] : {} }];
      })
    : [];
  return {
    kind: "message",
    message: {
      role,
      ...(tool_calls.length > 0 && { tool_calls }),
      ...(typeof callId === "string" && { tool_call_id: callId }),
      ...(typeof name === "string" && { name }),
    },
    content: blocks,
    format: "none",
  };
}

function readStringTemplate(kwargs: Json | undefined, where: string): { text: string; format: TemplateFormat } {
  const text = kwargs?.["template"];
  if (typeof text !== "string") throw unprocessable(`${where}.kwargs.template: must be text`);
  const format = kwargs!["template_format"] ?? kwargs!["templateFormat"] ?? "f-string";
  return { text, format: readFormat(format, `${where}.kwargs.template_format`) };
}

/** Escapes a value for a template, so that what it contains is not read as one. */
const escapeFor = (format: TemplateFormat, text: string): string =>
  format === "f-string" ? text.replaceAll("{", "{{").replaceAll("}", "}}") : text;

/** Inserts an example's values into a template; other variables stay. */
function fillIn(template: string, format: TemplateFormat, example: Json): string {
  const pattern = format === "mustache" ? /\{\{\{?\s*([\w.$-]+)\s*\}?\}\}/g : /(?<!\{)\{([\w.$-]+)\}(?!\})/g;
  if (format === "none") return template;
  return template.replaceAll(pattern, (whole: string, name: string) =>
    Object.hasOwn(example, name) ? escapeFor(format, asText(example[name])) : whole,
  );
}

function readExamples(kwargs: Json, where: string): Json[] {
  const { examples } = kwargs;
  if (!Array.isArray(examples)) {
    throw unprocessable(`${where}.kwargs.examples: must be a list; selectors of examples are not supported`);
  }
  if (examples.length > MAX_MESSAGES) throw unprocessable(`${where}.kwargs.examples: more than ${MAX_MESSAGES}`);
  return examples.filter((example) => isObject(example));
}

/** A few-shot prompt of texts: prefix, examples and suffix, separated. */
function fewShotText(kwargs: Json, where: string): MessageTemplate {
  const prompt = readConstructor(kwargs["example_prompt"] ?? kwargs["examplePrompt"]);
  const { text: template, format } = readStringTemplate(prompt?.kwargs, `${where}.kwargs.example_prompt`);
  const separator = asText(kwargs["example_separator"] ?? kwargs["exampleSeparator"] ?? "\n\n");
  const own = readFormat(
    kwargs["template_format"] ?? kwargs["templateFormat"] ?? format,
    `${where}.kwargs.template_format`,
  );
  const shots = readExamples(kwargs, where).map((example) => fillIn(template, format, example));
  const texts = [kwargs["prefix"], ...shots, kwargs["suffix"]].filter(
    (text): text is string => typeof text === "string" && text !== "",
  );
  return { kind: "message", message: { role: "user" }, content: texts.join(separator), format: own };
}

/** A few-shot prompt of messages: those of the example prompt for each example. */
function fewShotMessages(kwargs: Json, where: string, read: ReadManifest, depth: number): PromptPart[] {
  const place = `${where}.kwargs.example_prompt`;
  const found = readConstructor(kwargs["example_prompt"] ?? kwargs["examplePrompt"]);
  if (!found) throw unprocessable(`${place}: is no serialized prompt of LangChain`);
  const isPrompt = found.name === "ChatPromptTemplate";
  const value = { type: "constructor", id: [found.name], kwargs: found.kwargs };
  const parts = isPrompt
    ? promptParts(found.name, found.kwargs, place, read, depth + 1)
    : messageParts(value, place, read, depth + 1);
  return readExamples(kwargs, where).flatMap((example) =>
    parts.map((part) =>
      part.kind === "message" && typeof part.content === "string"
        ? { ...part, content: fillIn(part.content, part.format, example) }
        : part,
    ),
  );
}

function readBoundModel(value: unknown, where: string, read: ReadManifest): void {
  const found = readConstructor(value);
  if (!found) throw unprocessable(`${where}: is no serialized model of LangChain`);
  let model = found;
  if (found.name === "RunnableBinding") {
    const bound = readConstructor(found.kwargs["bound"]);
    if (!bound) throw unprocessable(`${where}.kwargs.bound: is no serialized model of LangChain`);
    model = bound;
    if (isObject(found.kwargs["kwargs"])) readBinding(found.kwargs["kwargs"], `${where}.kwargs.kwargs`, read);
  }
  const { configuration, notes } = readModelManifest(model.name, model.kwargs, where);
  read.model = configuration;
  read.notes.push(...notes);
}

function readBinding(kwargs: Json, where: string, read: ReadManifest): void {
  for (const [name, value] of Object.entries(kwargs)) {
    if (value == null) continue;
    if (name === "tools" && Array.isArray(value)) {
      if (value.length > MAX_TOOLS) throw unprocessable(`${where}.tools: more than ${MAX_TOOLS}`);
      for (const [i, item] of value.entries()) {
        const parsed = tool.safeParse(item);
        if (!parsed.success) throw unprocessable(`${where}.tools.${i}: is no function with a name and parameters`);
        read.tools.push(parsed.data);
      }
    } else if (name === "tool_choice") read.toolChoice = readToolChoice(value);
    else if (name === "response_format" && isObject(value)) {
      const schema = isObject(value["json_schema"]) ? value["json_schema"]["schema"] : undefined;
      if (isObject(schema)) read.responseSchema = schema;
    } else read.notes.push(`${name} of the model's binding was left out`);
  }
}

/** Reads a tool choice in the forms of OpenAI and Anthropic. */
export function readToolChoice(value: unknown): string | undefined {
  if (typeof value === "string") return value === "required" ? "any" : value;
  if (!isObject(value)) return undefined;
  const inner = isObject(value["function"]) ? value["function"]["name"] : value["name"];
  if (typeof inner === "string") return inner;
  return typeof value["type"] === "string" ? readToolChoice(value["type"]) : undefined;
}
