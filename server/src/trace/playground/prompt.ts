import { unprocessable } from "../../base/errors.ts";
import {
  type Content,
  type ContentBlock,
  contentBlock,
  MAX_MESSAGES,
  type Message,
  message,
} from "../models/message-schema.ts";
import { asText, renderTemplate, type TemplateFormat, templateVariables, type Variables } from "./render-template.ts";

/** Message whose texts are templates. `raw` content is a block whose strings are templates, such as an image's URL. */
export interface MessageTemplate {
  kind: "message";
  message: Omit<Message, "content">;
  content: string | (ContentBlock | { raw: Record<string, unknown> })[];
  format: TemplateFormat;
}

/** Place of a list of messages that a variable contains. */
export interface Placeholder {
  kind: "placeholder";
  variable: string;
  optional: boolean;
  /** Only the last messages of the list. */
  last?: number | undefined;
}

export type PromptPart = MessageTemplate | Placeholder;

/** Prompt that is independent of where it came from: messages of a request, or a manifest. */
export interface Prompt {
  parts: PromptPart[];
  /** Values of variables that the prompt itself has. */
  defaults: Variables;
}

/** Returns a prompt's variables, without those that have a default. */
export function promptVariables({ parts, defaults }: Prompt): string[] {
  const names = new Set<string>();
  for (const [i, part] of parts.entries()) {
    if (part.kind === "placeholder") {
      names.add(part.variable);
      continue;
    }
    for (const text of textsOf(part.content)) {
      for (const name of templateVariables(text, part.format, `messages.${i}`)) names.add(name);
    }
  }
  return [...names].filter((name) => !Object.hasOwn(defaults, name));
}

/** Returns the variables that have no value and need one. */
export function missingVariables(prompt: Prompt, variables: Variables): string[] {
  const optional = new Set(
    prompt.parts.flatMap((part) => (part.kind === "placeholder" && part.optional ? [part.variable] : [])),
  );
  return promptVariables(prompt).filter(
    (name) => !optional.has(name) && (!Object.hasOwn(variables, name) || variables[name] == null),
  );
}

function textsOf(content: MessageTemplate["content"]): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((block) =>
    "raw" in block ? stringsIn(block.raw) : block.type === "text" ? [block.text] : [],
  );
}

const stringsIn = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : value !== null && typeof value === "object"
      ? Object.values(value).flatMap((inner) => stringsIn(inner))
      : [];

/** @throws 422 for an invalid template, or a variable without a value */
export function renderPrompt(prompt: Prompt, given: Variables): Message[] {
  const variables: Variables = { ...prompt.defaults, ...given };
  const missing = missingVariables(prompt, variables);
  if (missing.length > 0) throw unprocessable(`variables: missing ${missing.join(", ")}`);
  const rendered = prompt.parts.flatMap((part, i) =>
    part.kind === "placeholder" ? readMessages(part, variables) : [renderMessage(part, variables, `messages.${i}`)],
  );
  if (rendered.length === 0) throw unprocessable("messages: at least one is required");
  if (rendered.length > MAX_MESSAGES) throw unprocessable(`messages: more than ${MAX_MESSAGES}`);
  return rendered;
}

function renderMessage(
  { message: base, content, format }: MessageTemplate,
  variables: Variables,
  where: string,
): Message {
  if (typeof content === "string") return { ...base, content: renderTemplate(content, format, variables, where) };
  const blocks: Content = content.map((block, i) => {
    const place = `${where}.content.${i}`;
    if ("raw" in block) return readBlock(renderStrings(block.raw, format, variables, place), place);
    return block.type === "text" ? { ...block, text: renderTemplate(block.text, format, variables, place) } : block;
  });
  return { ...base, content: blocks };
}

function renderStrings(value: unknown, format: TemplateFormat, variables: Variables, where: string): unknown {
  if (typeof value === "string") return renderTemplate(value, format, variables, where);
  if (Array.isArray(value)) return value.map((item: unknown) => renderStrings(item, format, variables, where));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, renderStrings(inner, format, variables, where)]);
  return Object.fromEntries(entries);
}

function readBlock(value: unknown, where: string): ContentBlock {
  const read = contentBlock.safeParse(value);
  if (!read.success) throw unprocessable(`${where}: is no text, image, file or audio block`);
  return read.data;
}

/** Reads a placeholder's messages: objects with a role, or pairs `[role, content]`. */
function readMessages({ variable, optional, last }: Placeholder, variables: Variables): Message[] {
  const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
  if (value == null && optional) return [];
  const list: unknown = typeof value === "string" ? parseList(value) : value;
  if (!Array.isArray(list) || list.length > MAX_MESSAGES) {
    throw unprocessable(`variables.${variable}: must be a list of at most ${MAX_MESSAGES} messages`);
  }
  return list.slice(last === undefined ? 0 : -last).map((item: unknown, i) => {
    const pair =
      Array.isArray(item) && item.length === 2 ? { role: asText(item[0]), content: item[1] as unknown } : item;
    const read = message.safeParse(pair);
    if (!read.success) throw unprocessable(`variables.${variable}.${i}: is no message with a role and a content`);
    return read.data;
  });
}

/** A text in place of a list is one message of the user, unless it is a list as JSON. */
function parseList(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // plain text
  }
  return [{ role: "user", content: text }];
}
