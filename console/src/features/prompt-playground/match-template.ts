/** Finds the values with which a prompt's template renders to the messages of a trace. */
import { isObject, type DraftMessage, type Prompt } from "./prompt.ts";
import { type PlayedMessage, readPlayedMessage } from "./read-run.ts";
import { findVariables, type TemplateFormat } from "./template.ts";

export type Inputs = Record<string, string>;

/** Returns the inputs as the page's fields hold them; null when the messages don't follow from the template. */
export function matchTemplate(prompt: Prompt, messages: readonly PlayedMessage[]): Inputs | null {
  if (prompt.kind === "kept" || prompt.messages.some(({ role }) => role === "kept")) return null;
  const placeholders = prompt.messages.filter(({ role }) => role === "placeholder");
  if (placeholders.length > 1) return null;
  const at = prompt.messages.findIndex(({ role }) => role === "placeholder");
  const held = messages.length - (prompt.messages.length - placeholders.length);
  if (held < 0 || (at === -1 && held > 0)) return null;
  const inputs: Inputs = {};
  const rest = [...messages];
  if (at !== -1) {
    inputs[prompt.messages[at]!.name] = JSON.stringify(rest.splice(at, held), null, 2);
  }
  const templates = prompt.messages.filter(({ role }) => role !== "placeholder");
  for (const [index, template] of templates.entries()) {
    const found = matchMessage(template, readPlayedMessage(rest[index]!), prompt.format);
    if (!found) return null;
    for (const [name, value] of Object.entries(found)) {
      if (name in inputs && inputs[name] !== value) return null;
      inputs[name] = value;
    }
  }
  return inputs;
}

function matchMessage(template: DraftMessage, message: DraftMessage, format: TemplateFormat): Inputs | null {
  if (template.role !== message.role) return null;
  const [pattern, text] = [onlyText(template.content), onlyText(message.content)];
  if (pattern === null || text === null) {
    return JSON.stringify(template.content) === JSON.stringify(message.content) ? {} : null;
  }
  if (!template.isTemplate) return pattern === text ? {} : null;
  return matchText(pattern, text, format);
}

function onlyText(content: DraftMessage["content"]): string | null {
  if (typeof content === "string") return content;
  const [part] = content;
  return content.length === 1 && isObject(part) && part["type"] === "text" ? String(part["text"]) : null;
}

const TAGS = { "f-string": /(\{\{|\}\}|\{[^{}]*\})/, mustache: /(\{\{\{?[&]?\s*[\w ]+\s*\}?\}\})/ };

/** Matches by search for the literal pieces, which takes linear time, unlike a regular expression. */
export function matchText(template: string, text: string, format: TemplateFormat): Inputs | null {
  if (findVariables(template, format).some(({ kind }) => kind !== "text")) return null;
  const inputs: Inputs = {};
  let at = 0;
  let open: string | null = null;
  let literal = "";
  const close = (isEnd: boolean): boolean => {
    if (open === null) {
      if (!text.startsWith(literal, at)) return false;
      at += literal.length;
    } else {
      // two variables without text between them have no unique values
      if (literal === "" && !isEnd) return false;
      const end = isEnd ? text.length - literal.length : text.indexOf(literal, at);
      if (end < at || !text.startsWith(literal, end)) return false;
      const value = text.slice(at, end);
      if (open in inputs && inputs[open] !== value) return false;
      inputs[open] = value;
      at = end + literal.length;
    }
    literal = "";
    return true;
  };
  for (const token of template.split(TAGS[format])) {
    const [variable] = findVariables(token, format);
    if (variable) {
      if (!close(false)) return null;
      open = variable.name;
    } else literal += format === "f-string" && /^(\{\{|\}\})$/.test(token) ? token[0] : token;
  }
  return close(true) && at === text.length ? inputs : null;
}
