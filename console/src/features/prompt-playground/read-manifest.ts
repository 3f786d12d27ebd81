/**
 * Reads LangChain's serialized prompts, as both SDKs push them, for the editor. Members that the editor does not show
 * stay with the draft, so that write-manifest.ts returns an unchanged prompt as it was.
 */
import { newId } from "../../ui/new-id.ts";
import { asText, type DraftMessage, type DraftToolCall, isObject, newMessage, type Node, type Part } from "./prompt.ts";
import { newPrompt, type Prompt } from "./prompt.ts";
import { TEMPLATE_FORMATS, type TemplateFormat } from "./template.ts";

const TEMPLATE_ROLES: Record<string, DraftMessage["role"]> = {
  SystemMessagePromptTemplate: "system",
  HumanMessagePromptTemplate: "human",
  AIMessagePromptTemplate: "ai",
  ChatMessagePromptTemplate: "chat",
};
const LITERAL_ROLES: Record<string, DraftMessage["role"]> = {
  SystemMessage: "system",
  HumanMessage: "human",
  AIMessage: "ai",
  ToolMessage: "tool",
  ChatMessage: "chat",
};

/** Returns the class of a serialized object: `ChatPromptTemplate`; an empty string for anything else. */
export const className = (node: unknown): string =>
  isObject(node) && node["lc"] === 1 && Array.isArray(node["id"]) ? String(node["id"].at(-1)) : "";

export const kwargs = (node: unknown): Record<string, unknown> =>
  isObject(node) && isObject(node["kwargs"]) ? node["kwargs"] : {};

export interface ReadManifest {
  prompt: Prompt;
  /** Serialized model of a prompt that was pushed with its model; null without one. */
  model: Node | null;
}

/** Reads a manifest: a prompt, or a sequence of a prompt and a model (`include_model`). */
export function readManifest(manifest: unknown): ReadManifest {
  if (className(manifest) !== "RunnableSequence") return { prompt: readPrompt(manifest), model: null };
  const step = modelStep(manifest);
  const { bound, kwargs: options } = className(step) === "RunnableBinding" ? kwargs(step) : { bound: step };
  const { tools, tool_choice: choice } = isObject(options) ? options : {};
  const prompt = { ...readPrompt(kwargs(manifest)["first"]), ...readTools(tools, choice) };
  return { prompt: { ...prompt, sequence: manifest as Node }, model: isObject(bound) ? bound : null };
}

/** Returns the step of a sequence that is a model, or a model with options bound to it. */
export function modelStep(sequence: unknown): unknown {
  const { middle, last } = kwargs(sequence);
  const steps = [...(Array.isArray(middle) ? (middle as unknown[]) : []), last];
  return steps.find((step) => /^(RunnableBinding|Chat\w+|\w*OpenAI|\w+LLM|Ollama)$/.test(className(step)));
}

function readPrompt(node: unknown): Prompt {
  const name = className(node);
  const source = isObject(node) ? node : {};
  const options = kwargs(node);
  if (name === "PromptTemplate" && typeof options["template"] === "string") {
    const message = { ...newMessage("human", options["template"]), node: source };
    return { ...newPrompt(), kind: "string", format: readFormat(options), messages: [message], source };
  }
  const list = options["messages"] ?? options["prompt_messages"];
  if (/^(ChatPromptTemplate|StructuredPrompt)$/.test(name) && Array.isArray(list)) {
    const nodes = list as unknown[];
    const format = nodes.map(findFormat).find((found) => found !== null) ?? readFormat(options);
    const schema = options["schema_"] ?? options["schema"];
    return {
      ...newPrompt(),
      format,
      messages: nodes.map((entry) => readMessage(entry, format)),
      schema: isObject(schema) ? JSON.stringify(schema, null, 2) : "",
      source,
    };
  }
  return { ...newPrompt(), kind: "kept", messages: [{ ...newMessage("kept"), node: source }], source };
}

const readFormat = ({ template_format: format }: Record<string, unknown>): TemplateFormat =>
  TEMPLATE_FORMATS.find((candidate) => candidate === format) ?? "f-string";

function findFormat(node: unknown): TemplateFormat | null {
  const { prompt, template_format: own } = kwargs(node);
  const inner = Array.isArray(prompt) ? prompt : [prompt];
  const declared = [own, ...inner.map((part) => kwargs(part)["template_format"])];
  return TEMPLATE_FORMATS.find((format) => declared.includes(format)) ?? null;
}

/** Reads a message of a chat prompt; one that the editor can't show is `kept`. */
export function readMessage(node: unknown, format: TemplateFormat): DraftMessage {
  const kept: DraftMessage = { ...newMessage("kept"), node: isObject(node) ? node : { value: node } };
  const name = className(node);
  const options = kwargs(node);
  if (name === "MessagesPlaceholder") {
    return { ...kept, role: "placeholder", isTemplate: true, name: asText(options["variable_name"]) };
  }
  const literal = LITERAL_ROLES[name];
  if (literal !== undefined) {
    const content = readContent(options["content"]);
    if (content === null) return kept;
    return {
      ...kept,
      role: literal,
      content,
      isTemplate: false,
      toolCalls: readToolCalls(options["tool_calls"]),
      toolCallId: asText(options["tool_call_id"]),
      name: asText(options["name"] ?? options["role"]),
    };
  }
  const role = TEMPLATE_ROLES[name];
  const found = findFormat(node);
  if (role === undefined || (found !== null && found !== format)) return kept;
  const content = readTemplate(options["prompt"]);
  if (content === null) return kept;
  return { ...kept, role, content, isTemplate: true, name: role === "chat" ? asText(options["role"]) : "" };
}

function readContent(content: unknown): string | Part[] | null {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  return content.map((part: unknown): Part => (isObject(part) ? part : { type: "text", text: String(part) }));
}

/** Reads the template of a message: text, or a list of text, images and other content blocks. */
function readTemplate(prompt: unknown): string | Part[] | null {
  if (Array.isArray(prompt)) {
    const parts = prompt.map(readTemplatePart);
    return parts.every((part) => part !== null) ? parts : null;
  }
  const { template } = kwargs(prompt);
  return className(prompt) === "PromptTemplate" && typeof template === "string" ? template : null;
}

function readTemplatePart(node: unknown): Part | null {
  const { template, additional_content_fields: extra } = kwargs(node);
  switch (className(node)) {
    case "PromptTemplate":
      return typeof template === "string" ? { type: "text", text: template } : null;
    case "DictPromptTemplate":
      return isObject(template) ? template : null;
    case "ImagePromptTemplate":
      return isObject(template) ? { ...(isObject(extra) && extra), type: "image_url", image_url: template } : null;
    default:
      return null;
  }
}

export function readToolCalls(calls: unknown): DraftToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).map(({ id, name, args }) => ({
    id: asText(id),
    name: asText(name),
    args: typeof args === "string" ? args : JSON.stringify(args ?? {}, null, 2),
  }));
}

/** Reads the tools and the tool choice of a model's options. */
export function readTools(tools: unknown, choice: unknown): Pick<Prompt, "tools" | "toolChoice"> {
  const list = Array.isArray(tools) ? tools : [];
  return {
    tools: list.map((tool: unknown) => ({ key: newId(), text: JSON.stringify(tool, null, 2) })),
    toolChoice: readToolChoice(choice),
  };
}

function readToolChoice(choice: unknown): string {
  if (typeof choice === "string") return choice === "any" ? "required" : choice;
  if (!isObject(choice)) return "";
  const inner = isObject(choice["function"]) ? choice["function"] : choice;
  if (typeof inner["name"] === "string") return inner["name"];
  return typeof inner["type"] === "string" ? readToolChoice(inner["type"]) : "";
}
