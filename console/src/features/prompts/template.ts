/** Variables of prompt templates, by the rules of LangChain's template formats. Nothing is rendered here. */
export const TEMPLATE_FORMATS = ["f-string", "mustache", "jinja2"] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

export const readFormat = (value: unknown): TemplateFormat =>
  TEMPLATE_FORMATS.find((format) => format === value) ?? "f-string";

export interface TemplatePart {
  text: string;
  /** Name of the variable that the part inserts; null for text. */
  variable: string | null;
}

const PATTERNS: Record<TemplateFormat, RegExp> = {
  // doubled braces are literal
  "f-string": /\{\{|\}\}|\{([^{}]*)\}/g,
  mustache: /\{\{\{\s*([^{}]*?)\s*\}\}\}|\{\{\s*([#^/&!>]?)\s*([^{}]*?)\s*\}\}/g,
  jinja2: /\{\{-?\s*([A-Za-z_]\w*)[^{}]*\}\}|\{%[^%]*%\}|\{#[^#]*#\}/g,
};

/** Splits a template into its text and its variables. */
export function splitTemplate(template: string, format: TemplateFormat): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  let depth = 0;
  const add = (text: string, variable: string | null) => {
    if (text === "") return;
    const last = parts.at(-1);
    if (variable === null && last?.variable === null) last.text += text;
    else parts.push({ text, variable });
  };
  for (const match of template.matchAll(PATTERNS[format])) {
    add(template.slice(end, match.index), null);
    end = match.index + match[0].length;
    if (format !== "mustache") {
      // `{name!r:>10}` inserts the variable `name`, and `{user.name}` one of that name: the server reads no attributes
      add(match[0], match[1]?.replace(/[!:].*$/s, "").trim() || null);
      continue;
    }
    const [, bare, sigil = "", name = ""] = match;
    if (sigil === "/") depth = Math.max(0, depth - 1);
    // names within a section belong to the section's items
    const root = (bare ?? name).split(".")[0]!;
    const isVariable = depth === 0 && !/[/!>]/.test(sigil) && root !== "";
    if (sigil === "#" || sigil === "^") depth += 1;
    add(match[0], isVariable ? root : null);
  }
  add(template.slice(end), null);
  return parts;
}

/** Names of the variables, each once, in order. */
export const listVariables = (template: string, format: TemplateFormat): string[] => [
  ...new Set(splitTemplate(template, format).flatMap(({ variable }) => variable ?? [])),
];
