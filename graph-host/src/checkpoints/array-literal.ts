import { cleanText } from "./jsonb-text.ts";

/**
 * Builds an array in Postgres' text format, one element per row. The driver could build it too, but queries the
 * database for its types at each connect.
 */
export function textArray<T>(rows: T[], value: (row: T) => string | null): string {
  return `{${rows.map((row) => element(value(row))).join(",")}}`;
}

/** Builds an array of numbers, booleans or `NULL`. */
export function plainArray<T>(rows: T[], value: (row: T) => number | string): string {
  return `{${rows.map(value).join(",")}}`;
}

function element(text: string | null): string {
  if (text === null) return "NULL";
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${cleanText(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

const PLAIN = /^[\w.:|-]*$/;
