/** Variables of prompts, by the rules of LangChain's template formats. The server renders them. */
import { listVariables } from "../prompts/template.ts";

export const TEMPLATE_FORMATS = ["f-string", "mustache"] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

export interface Variable {
  name: string;
  /** Whether its value may be JSON: a placeholder's messages, or the data of a mustache section or path. */
  kind: "text" | "json" | "messages";
}

const MUSTACHE_TAG = /\{\{(\{|[#^/!&>=])?\s*([^{}]*?)\s*\}?\}\}/g;
/** Names with a section or a path, whose values are more than text. */
const MUSTACHE_DATA = /\{\{(?:[#^]\s*([^{}.\s]+)|[{&]?\s*([^{}.\s]+)\.)/g;
const F_STRING_TOKEN = /\{\{|\}\}|\{([^{}]*)\}/g;

/** Finds the variables of a template in the order of their first use. */
export function findVariables(text: string, format: TemplateFormat): Variable[] {
  const data = new Set(
    format === "mustache" ? [...text.matchAll(MUSTACHE_DATA)].map(([, section, path]) => section ?? path) : [],
  );
  return listVariables(text, format).map((name) => ({ name, kind: data.has(name) ? "json" : "text" }));
}

/** Returns what is wrong with a template's braces; null if nothing is. */
export function templateProblem(text: string, format: TemplateFormat): string | null {
  if (format === "f-string") {
    const rest = text.replaceAll(F_STRING_TOKEN, "");
    if (rest.includes("{")) return "A “{” is not closed. Write {{ for a brace in the text.";
    if (rest.includes("}")) return "A “}” has no “{”. Write }} for a brace in the text.";
    if (findVariables(text, format).length === 0 && /(?<!\{)\{\s*\}(?!\})/.test(text))
      return "A variable has no name. Write {{}} for braces in the text.";
    return null;
  }
  const open: string[] = [];
  for (const [, kind, name = ""] of text.matchAll(MUSTACHE_TAG)) {
    if (kind === "#" || kind === "^") open.push(name);
    if (kind === "/" && open.pop() !== name) return `The section “${name}” is closed but not open.`;
  }
  return open.length > 0 ? `The section “${open.at(-1)}” is not closed.` : null;
}

/** Chooses a format in which texts of a trace can be shown as they are, if there is one. */
export function chooseFormat(texts: readonly string[]): TemplateFormat {
  const hasBrace = texts.some((text) => /[{}]/.test(text));
  const hasTag = texts.some((text) => text.includes("{{"));
  return hasBrace && !hasTag ? "mustache" : "f-string";
}

/** Writes a literal text as a template. */
export const escapeText = (text: string, format: TemplateFormat): string =>
  format === "f-string" ? text.replaceAll("{", "{{").replaceAll("}", "}}") : text;

/** Rewrites a template in the other format. Sections have no f-string form and stay as literal text. */
export function convertTemplate(text: string, from: TemplateFormat, to: TemplateFormat): string {
  if (from === to) return text;
  if (from === "f-string") {
    return text.replaceAll(F_STRING_TOKEN, (token, name: string | undefined) =>
      name === undefined ? token[0]! : `{{${name.replace(/[!:].*$/s, "").trim()}}}`,
    );
  }
  let end = 0;
  let converted = "";
  for (const match of text.matchAll(MUSTACHE_TAG)) {
    const [tag, kind, name = ""] = match;
    converted += escapeText(text.slice(end, match.index), to);
    converted += kind === undefined || kind === "{" || kind === "&" ? `{${name}}` : escapeText(tag, to);
    end = match.index + tag.length;
  }
  return converted + escapeText(text.slice(end), to);
}
