/**
 * Templates of JSON: texts that contain `{{inputs.question}}`. A text that is nothing but a placeholder becomes the
 * value itself, of any type; elsewhere the value is inserted as text. A path reads own properties, and elements of
 * lists by their index, from the end for a negative one: `{{output.messages.-1.content}}`.
 */
import { unprocessable } from "../../base/errors.ts";

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const WHOLE = /^\{\{\s*([^{}]*?)\s*\}\}$/;
const SEGMENT = /^[^.{}]{1,256}$/;
const MAX_DEPTH = 64;

/** @throws 422 for a path whose root is unknown, or that is malformed */
export function checkTemplate(template: unknown, roots: readonly string[], where: string): void {
  walk(template, where, 0, (text) => {
    for (const [, path = ""] of text.matchAll(PLACEHOLDER)) {
      const segments = path.split(".");
      if (!roots.includes(segments[0]!) || !segments.every((segment) => SEGMENT.test(segment))) {
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

/** Reads a dotted path; undefined when there is no such value. */
export function readPath(root: unknown, path: string): unknown {
  let value = root;
  for (const segment of path.split(".")) {
    if (Array.isArray(value)) value = /^-?\d{1,9}$/.test(segment) ? value.at(Number(segment)) : undefined;
    else if (value !== null && typeof value === "object" && Object.hasOwn(value, segment)) {
      value = (value as Record<string, unknown>)[segment];
    } else return undefined;
  }
  return value;
}

const asText = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
