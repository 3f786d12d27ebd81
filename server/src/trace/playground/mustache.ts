/**
 * Mustache (mustache(5)) without partials, lambdas, changed delimiters and HTML escaping, as LangChain uses it. Names
 * reach own properties only: `{{constructor}}` and the like are rejected.
 */
import { unprocessable } from "../../base/errors.ts";

type Node =
  | { kind: "text"; text: string }
  | { kind: "variable"; path: string[] }
  | { kind: "section" | "inverted"; path: string[]; nodes: Node[] };

/** Nesting of sections. */
const MAX_DEPTH = 20;
/** Nodes that are rendered, repetitions included. */
const MAX_STEPS = 200_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

const TAG = /\{\{(\{[^{}]*\}|[^{}]*)\}\}/g;
const PATH = /^[\p{L}_$][\p{L}\p{N}_$-]*(\.[\p{L}\p{N}_$][\p{L}\p{N}_$-]*)*$/u;
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);
/** A tag without output that is alone on its line takes the line with it. */
const STANDALONE = /^[ \t]*(\{\{[#^/!][^{}]*\}\})[ \t]*(?:\r?\n|(?![^]))/gm;

export function renderMustache(template: string, variables: Record<string, unknown>, where: string): string {
  const budget = { steps: 0, characters: 0 };
  return render(parse(template, where), [variables], where, budget);
}

/** Returns the names that a template reads from its variables, in their order. */
export function mustacheVariables(template: string, where: string): string[] {
  const names = new Set<string>();
  for (const node of parse(template, where)) if (node.kind !== "text" && node.path[0]) names.add(node.path[0]);
  return [...names];
}

function parse(template: string, where: string): Node[] {
  const source = template.replaceAll(STANDALONE, "$1");
  const root: Node[] = [];
  const open: { name: string; nodes: Node[] }[] = [{ name: "", nodes: root }];
  let at = 0;
  for (const match of source.matchAll(TAG)) {
    const { nodes } = open.at(-1)!;
    if (match.index > at) nodes.push({ kind: "text", text: source.slice(at, match.index) });
    at = match.index + match[0].length;
    const tag = match[1]!.replace(/^\{(.*)\}$/s, "&$1");
    const sign = /^[#^/!&>=]/.exec(tag)?.[0] ?? "";
    const name = tag.slice(sign.length).trim();
    if (sign === "!") continue;
    if (sign === ">" || sign === "=") {
      throw unprocessable(`${where}: {{${sign}…}} is not supported; partials and other delimiters cannot be used`);
    }
    if (sign === "/") {
      if (open.length === 1 || open.at(-1)!.name !== name)
        throw unprocessable(`${where}: {{/${name}}} closes no section`);
      open.pop();
      continue;
    }
    const path = readPath(name, where);
    if (sign === "#" || sign === "^") {
      if (open.length > MAX_DEPTH) throw unprocessable(`${where}: sections are nested deeper than ${MAX_DEPTH}`);
      const section: Node = { kind: sign === "#" ? "section" : "inverted", path, nodes: [] };
      nodes.push(section);
      open.push({ name, nodes: section.nodes });
    } else nodes.push({ kind: "variable", path });
  }
  if (open.length > 1) throw unprocessable(`${where}: the section {{#${open.at(-1)!.name}}} is not closed`);
  if (at < source.length) root.push({ kind: "text", text: source.slice(at) });
  return root;
}

/** @returns an empty path for `.` */
function readPath(name: string, where: string): string[] {
  if (name === ".") return [];
  const path = name.split(".");
  if (!PATH.test(name) || path.some((part) => FORBIDDEN.has(part))) {
    throw unprocessable(`${where}: "{{${name.slice(0, 100)}}}" names no variable`);
  }
  return path;
}

function render(
  nodes: Node[],
  context: unknown[],
  where: string,
  budget: { steps: number; characters: number },
): string {
  let text = "";
  for (const node of nodes) {
    if (++budget.steps > MAX_STEPS || budget.characters > MAX_CHARACTERS) {
      throw unprocessable(`${where}: the template is too large when rendered`);
    }
    if (node.kind === "text") {
      budget.characters += node.text.length;
      text += node.text;
      continue;
    }
    const value = lookUp(node.path, context);
    if (node.kind === "variable") {
      if (value === undefined && context.length === 1) {
        throw unprocessable(`${where}: the variable "${node.path.join(".")}" has no value`);
      }
      const rendered = value == null ? "" : typeof value === "string" ? value : JSON.stringify(value);
      budget.characters += rendered.length;
      text += rendered;
      continue;
    }
    // as LangChain in both languages: also 0
    const isEmpty = !value || (Array.isArray(value) && value.length === 0);
    if (node.kind === "inverted") {
      if (isEmpty) text += render(node.nodes, context, where, budget);
    } else if (!isEmpty) {
      const items: unknown[] = Array.isArray(value) ? value : [value];
      for (const item of items) text += render(node.nodes, [...context, item], where, budget);
    }
  }
  return text;
}

/** Finds the first name in the innermost context that has it, then the others in its value. */
function lookUp([first, ...rest]: string[], context: unknown[]): unknown {
  if (first === undefined) return context.at(-1);
  const owner = context.findLast((each) => hasOwn(each, first));
  let value = owner === undefined ? undefined : (owner as Record<string, unknown>)[first];
  for (const name of rest) value = hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  return value;
}

const hasOwn = (value: unknown, name: string): boolean =>
  value !== null && typeof value === "object" && Object.hasOwn(value, name);
