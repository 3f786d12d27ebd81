/** Writes the editor's prompts as LangChain's serialized ones. */
import { readJson } from "../../ui/json-text.ts";
import { withProperty } from "../../ui/schema-form/schema.ts";
import { type DraftMessage, isObject, type Node, type Part, type Prompt, textParts } from "./prompt.ts";
import { className, kwargs, readMessage } from "./read-manifest.ts";
import { findVariables, type TemplateFormat, type Variable } from "./template.ts";

const MESSAGES = ["langchain_core", "messages"];
const PROMPTS = ["langchain_core", "prompts"];

const construct = (id: string[], options: Record<string, unknown>): Node => ({
  lc: 1,
  type: "constructor",
  id,
  kwargs: options,
});

/**
 * Serializes a prompt. Messages that were not edited, and members that the editor does not show, stay as they were.
 * @throws when the output schema, a tool or a tool call's arguments are not valid JSON
 */
export function writeManifest(prompt: Prompt): Node {
  const { kind, source, messages, format } = prompt;
  if (kind === "kept") return source ?? messages[0]!.node!;
  if (kind === "string") {
    const template = textParts(messages[0]!.content).join("");
    const own = { template, input_variables: names(prompt), template_format: format };
    return source ? update(source, own) : construct([...PROMPTS, "prompt", "PromptTemplate"], own);
  }
  const schema = prompt.schema.trim() === "" ? null : readJson(prompt.schema, "The output schema");
  // older versions of LangChain have another name for them
  const field = "prompt_messages" in kwargs(source) ? "prompt_messages" : "messages";
  const own = { [field]: messages.map((message) => writeMessage(message, format)), input_variables: names(prompt) };
  const isStructured = className(source) === "StructuredPrompt";
  if (schema === null) {
    if (source && !isStructured) return update(source, own);
    return construct([...PROMPTS, "chat", "ChatPromptTemplate"], own);
  }
  // Python names it `schema_`; both SDKs read both
  const key = isStructured && "schema" in kwargs(source) ? "schema" : "schema_";
  if (isStructured) return update(source!, { ...own, [key]: schema });
  return construct([...PROMPTS, "structured", "StructuredPrompt"], { ...own, [key]: schema });
}

/** Returns a node with other options; the same node when nothing differs. */
function update(node: Node, own: Record<string, unknown>): Node {
  const before = kwargs(node);
  const changed = Object.entries(own).filter(([key, value]) => {
    // readers compute it when it is missing, and its order has no meaning
    if (key === "input_variables" && isSameSet(before[key], value)) return false;
    if (key === "template_format" && before[key] === undefined) return value !== "f-string";
    return JSON.stringify(before[key]) !== JSON.stringify(value);
  });
  return changed.length === 0 ? node : { ...node, kwargs: { ...before, ...Object.fromEntries(changed) } };
}

function isSameSet(before: unknown, now: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(now)) return false;
  return before.length === now.length && before.every((name) => now.includes(name));
}

/** Names for `input_variables`: without partial ones and optional placeholders, as LangChain computes them. */
const names = (prompt: Prompt): string[] => {
  const values = ownValues(prompt);
  const optional = new Set(prompt.messages.filter(isOptional).map(({ name }) => name));
  return promptVariables(prompt)
    .map(({ name }) => name)
    .filter((name) => !optional.has(name) && !Object.hasOwn(values, name));
};

/** Returns the values that a prompt, or the templates of its messages, have of variables. */
export function ownValues({ source, messages }: Pick<Prompt, "source" | "messages">): Record<string, unknown> {
  const templates = messages.flatMap(({ node }): unknown[] => [kwargs(node)["prompt"]].flat());
  const found = [source, ...templates].map((node) => kwargs(node)["partial_variables"]);
  return Object.assign({}, ...found.filter(isObject)) as Record<string, unknown>;
}

/** Whether a placeholder needs no messages. */
export const isOptional = ({ role, node }: DraftMessage): boolean =>
  role === "placeholder" && kwargs(node)["optional"] === true;

/** Lists the variables of a prompt in the order of their first use. */
export function promptVariables({ messages, format, kind, source }: Prompt): Variable[] {
  const found = new Map<string, Variable>();
  const add = (variable: Variable) => {
    if (!found.has(variable.name)) found.set(variable.name, variable);
  };
  if (kind === "kept") declared(source).forEach(add);
  for (const { role, name, content, isTemplate, node } of messages) {
    if (role === "placeholder") add({ name, kind: "messages" });
    else if (role === "kept") declared(node).forEach(add);
    else if (isTemplate)
      textParts(content)
        .flatMap((text) => findVariables(text, format))
        .forEach(add);
  }
  return [...found.values()];
}

/** Lists the variables that a kept node declares. */
const declared = (node: unknown): Variable[] => {
  const { input_variables: found } = kwargs(node);
  return Array.isArray(found) ? found.map((name) => ({ name: String(name), kind: "text" as const })) : [];
};

const CLASSES: Record<string, [template: string, literal: string]> = {
  system: ["SystemMessagePromptTemplate", "SystemMessage"],
  human: ["HumanMessagePromptTemplate", "HumanMessage"],
  ai: ["AIMessagePromptTemplate", "AIMessage"],
  chat: ["ChatMessagePromptTemplate", "ChatMessage"],
  tool: ["", "ToolMessage"],
};

export function writeMessage(message: DraftMessage, format: TemplateFormat): Node {
  const { role, node, content, name } = message;
  if (role === "kept") return node!;
  if (node && isSame(message, readMessage(node, format))) return node;
  if (role === "placeholder") {
    return construct([...PROMPTS, "chat", "MessagesPlaceholder"], {
      ...sameClass(node, "MessagesPlaceholder"),
      variable_name: name,
    });
  }
  const [template, literal] = CLASSES[role]!;
  if (isLiteral(message)) {
    const calls = message.toolCalls.map(({ id, name: tool, args }) => ({
      id,
      name: tool,
      args: readJson(args.trim() === "" ? "{}" : args, `The arguments of ${tool || "a tool call"}`),
      type: "tool_call",
    }));
    return construct([...MESSAGES, literal], {
      ...sameClass(node, literal),
      content,
      ...(role === "ai" && (calls.length > 0 || "tool_calls" in kwargs(node)) && { tool_calls: calls }),
      ...(role === "tool" && { tool_call_id: message.toolCallId }),
      ...(name !== "" && (role === "chat" ? { role: name } : { name })),
    });
  }
  const inner =
    typeof content === "string"
      ? textTemplate(content, format, kwargs(kwargs(node)["prompt"])["partial_variables"])
      : content.map((part) => partTemplate(part, format));
  return construct([...PROMPTS, "chat", template], {
    ...sameClass(node, template),
    prompt: inner,
    ...(role === "chat" && { role: name }),
  });
}

/** Whether a message has no template form: results of tools and messages that call them. */
const isLiteral = ({ role, isTemplate, toolCalls }: DraftMessage): boolean =>
  !isTemplate || role === "tool" || toolCalls.length > 0;

const sameClass = (node: Node | undefined, name: string): Record<string, unknown> =>
  node && className(node) === name ? kwargs(node) : {};

function isSame(a: DraftMessage, b: DraftMessage): boolean {
  const shown = ({ role, content, isTemplate, toolCalls, toolCallId, name }: DraftMessage) =>
    JSON.stringify([role, content, isTemplate, toolCalls, toolCallId, name]);
  return shown(a) === shown(b);
}

function textTemplate(template: string, format: TemplateFormat, values?: unknown): Node {
  const own = isObject(values) ? values : undefined;
  const variables = findVariables(template, format).map(({ name }) => name);
  return construct([...PROMPTS, "prompt", "PromptTemplate"], {
    input_variables: variables.filter((name) => !own || !Object.hasOwn(own, name)),
    template_format: format,
    template,
    ...(own && { partial_variables: own }),
  });
}

function partTemplate(part: Part, format: TemplateFormat): Node {
  if (part["type"] === "text" && typeof part["text"] === "string" && Object.keys(part).length === 2) {
    return textTemplate(part["text"], format);
  }
  const variables = textParts([part]).flatMap((text) => findVariables(text, format).map(({ name }) => name));
  const common = { input_variables: [...new Set(variables)], template_format: format };
  if (part["type"] === "image_url" && isObject(part["image_url"])) {
    const { image_url: template, ...rest } = part;
    const extra = withProperty(rest, "type", undefined);
    const more = Object.keys(extra).length > 0 && { additional_content_fields: extra };
    return construct([...PROMPTS, "image", "ImagePromptTemplate"], { ...common, template, ...more });
  }
  return construct([...PROMPTS, "dict", "DictPromptTemplate"], { ...common, template: part });
}

/** Parses the tools. @throws for the first that is not an object in JSON */
export function writeTools({ tools }: Prompt): Record<string, unknown>[] {
  return tools.map(({ text }, index) => {
    const tool = readJson(text, `Tool ${index + 1}`);
    if (!isObject(tool)) throw new Error(`Tool ${index + 1} must be a JSON object`);
    return tool;
  });
}
