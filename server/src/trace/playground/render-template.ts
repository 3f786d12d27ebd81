/**
 * Renders prompt templates. Templates are data of users: they are interpreted here, and only the own properties of the
 * given variables can be reached.
 */
import { unprocessable } from "../../base/errors.ts";
import { renderMustache, mustacheVariables } from "./mustache.ts";

export const TEMPLATE_FORMATS = ["f-string", "mustache", "none"] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

export type Variables = Record<string, unknown>;

/** Characters of a rendered text. */
const MAX_RENDERED = 4 * 1024 * 1024;

/** Returns a template format that a request or a manifest names. @throws 422, for jinja2 with the reason */
export function readFormat(name: unknown, where: string): TemplateFormat {
  if (name === "jinja2") {
    throw unprocessable(
      `${where}: jinja2 templates are not rendered on the server, because they can run code. Use f-string or mustache.`,
    );
  }
  const format = TEMPLATE_FORMATS.find((each) => each === name);
  if (!format) throw unprocessable(`${where}: must be one of ${TEMPLATE_FORMATS.join(", ")}`);
  return format;
}

/** @throws 422 that names `where` for an invalid template, or a variable without a value */
export function renderTemplate(template: string, format: TemplateFormat, variables: Variables, where: string): string {
  if (format === "none") return template;
  const rendered =
    format === "mustache" ? renderMustache(template, variables, where) : renderFString(template, variables, where);
  if (rendered.length > MAX_RENDERED) throw unprocessable(`${where}: exceeds ${MAX_RENDERED} characters when rendered`);
  return rendered;
}

/** Returns the variables of a template, in their order. */
export function templateVariables(template: string, format: TemplateFormat, where: string): string[] {
  if (format === "none") return [];
  if (format === "mustache") return mustacheVariables(template, where);
  return [...new Set(parseFString(template, where).flatMap((part) => ("name" in part ? [part.name] : [])))];
}

type Part = { text: string } | { name: string };

function renderFString(template: string, variables: Variables, where: string): string {
  return parseFString(template, where)
    .map((part) => ("text" in part ? part.text : readVariable(variables, part.name, where)))
    .join("");
}

const NAME = /^[\p{L}_$][\p{L}\p{N}_$.\- ]{0,127}$/u;

/** Parses `Hello {name}`, in which doubled braces stand for single ones (Python's format strings). */
function parseFString(template: string, where: string): Part[] {
  const parts: Part[] = [];
  let text = "";
  for (let at = 0; at < template.length; at++) {
    const char = template[at]!;
    if (char !== "{" && char !== "}") {
      text += char;
    } else if (template[at + 1] === char) {
      text += char;
      at++;
    } else if (char === "}") {
      throw unprocessable(`${where}: a single } at character ${at}; write }} for a brace`);
    } else {
      const end = template.indexOf("}", at);
      const name = end < 0 ? "" : template.slice(at + 1, end).trim();
      if (!NAME.test(name)) {
        const [, variable = "", format] = /^([^!:]+)([!:].*)$/s.exec(name) ?? [];
        if (NAME.test(variable.trim())) {
          throw unprocessable(
            `${where}: the variable "${variable.trim()}" at character ${at} has the format "${format}", which the server ` +
              `does not apply; write {${variable.trim()}}, and give it as the text that is to appear`,
          );
        }
        throw unprocessable(`${where}: no variable follows the { at character ${at}; write {{ for a brace`);
      }
      if (text !== "") parts.push({ text });
      parts.push({ name });
      text = "";
      at = end;
    }
  }
  if (text !== "") parts.push({ text });
  return parts;
}

/** Returns a variable as text. @throws 422 when it has no value */
function readVariable(variables: Variables, name: string, where: string): string {
  if (!Object.hasOwn(variables, name) || variables[name] == null) {
    throw unprocessable(`${where}: the variable "${name}" has no value`);
  }
  return asText(variables[name]);
}

export const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
