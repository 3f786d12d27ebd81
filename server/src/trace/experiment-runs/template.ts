/**
 * Templates of JSON: texts that contain `{{inputs.question}}`. A text that is nothing but a placeholder becomes the
 * value itself, of any type; elsewhere the value is inserted as text. Paths are those of ../datasets/run-path.ts.
 */
import { unprocessable } from "../../base/errors.ts";
import { parseSteps, readPath as follow } from "../datasets/run-path.ts";

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const WHOLE = /^\{\{\s*([^{}]*?)\s*\}\}$/;
const MAX_PATH = 4096;
const MAX_DEPTH = 64;

/** @throws 422 for a path whose root is unknown, or that is malformed */
export function checkTemplate(template: unknown, roots: readonly string[], where: string): void {
  walk(template, where, 0, (text) => {
    for (const [, path = ""] of text.matchAll(PLACEHOLDER)) {
      const steps = path.length > MAX_PATH ? "is too long" : parseSteps(path);
      if (typeof steps === "string" || !roots.includes(String(steps[0]))) {
        const known = roots.map((root) => `{{${root}…}}`).join(", ");
        throw unprocessable(`${where}: {{${path}}} is not a value. Placeholders begin with ${known}`);
      }
    }
    return text;
  });
}

/** Replaces the placeholders. A path without a value becomes null, or no text. */
export const renderTemplate = (template: unknown, values: Record<string, unknown>): unknown =>
  walk(template, "template", 0, (text) => {
    const [, whole] = WHOLE.exec(text) ?? [];
    if (whole !== undefined) return readPath(values, whole) ?? null;
    return text.replaceAll(PLACEHOLDER, (_, path: string) => asText(readPath(values, path)));
  });

function walk(value: unknown, where: string, depth: number, replace: (text: string) => unknown): unknown {
  if (typeof value === "string") return replace(value);
  if (value === null || typeof value !== "object") return value;
  if (depth > MAX_DEPTH) throw unprocessable(`${where}: nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) return value.map((item) => walk(item, where, depth + 1, replace));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, walk(item, where, depth + 1, replace)] as const),
  );
}

/** Reads a path; undefined when there is no such value. */
function readPath(values: Record<string, unknown>, path: string): unknown {
  const steps = parseSteps(path);
  return typeof steps === "string" ? undefined : follow(values, steps);
}

const asText = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
