import { formatTable } from "../../core/table.ts";
import type { TraceApi } from "../../core/trace-api.ts";

export type Item = Record<string, unknown>;

export interface Listing {
  tool: string;
  input: object;
  /** Field of the result that holds the items. */
  field: string;
  /** Columns of the table, by heading. */
  columns: Record<string, (item: Item) => string>;
  /** What there is none of. */
  what: string;
}

const PAGE = 100;
/** Values of JSON are whole up to this length. */
const WHOLE = 1_000_000;

/** Prints a list: a table for people, or a line of JSON per item. Reads pages until it has `limit` items. */
export async function printList(
  api: TraceApi,
  { tool, input, field, columns, what }: Listing,
  { json, limit, cursor }: { json: boolean; limit: number; cursor: string | undefined },
  hasValues = false,
): Promise<void> {
  let left = limit;
  let next: string | null | undefined = cursor;
  const rows: string[][] = [];
  do {
    const page: Item & { next_cursor: string | null } = await api.callTool(tool, {
      ...input,
      limit: Math.min(left, PAGE),
      ...(next != null && { cursor: next }),
      ...(hasValues && { max_value_characters: json ? WHOLE : 80 }),
    });
    const items = page[field] as Item[];
    left -= items.length;
    next = page.next_cursor;
    for (const item of items)
      if (json) process.stdout.write(`${JSON.stringify(item)}\n`);
      else rows.push(Object.values(columns).map((column) => column(item)));
    if (items.length === 0) break;
  } while (left > 0 && next !== null);
  if (!json && rows.length > 0) process.stdout.write(formatTable(Object.keys(columns), rows));
  if (!json && rows.length === 0) console.error(`No ${what}.`);
  if (next != null) console.error(`There are more. Go on with --cursor ${next}`);
}

/** Whether to print in colour: to a terminal, unless NO_COLOR is set (no-color.org). */
export const hasColor = (): boolean => process.stdout.isTTY === true && !process.env["NO_COLOR"];

/** Returns the text in red on a terminal. */
export const red = (text: string): string => (hasColor() ? `\x1b[31m${text}\x1b[0m` : text);

/** Returns text on a single line, of at most `width` characters; `-` for none. */
export function cell(value: unknown, width = 60): string {
  const text = value == null ? "" : typeof value === "string" ? value : JSON.stringify(value);
  // control characters would change the terminal's state
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  if (line === "") return "-";
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

export const seconds = (value: unknown): string => (typeof value === "number" ? `${value.toFixed(2)}s` : "-");
export const dollars = (value: unknown): string => (typeof value === "number" ? `$${value.toFixed(4)}` : "-");
export const percent = (value: unknown): string => (typeof value === "number" ? `${(value * 100).toFixed(1)}%` : "-");

/** Formats averages by feedback key. */
export const scores = (value: unknown): string =>
  cell(
    Object.entries((value ?? {}) as Record<string, { avg?: number | null; n?: number }>)
      .map(([key, { avg, n }]) => `${key} ${avg == null ? `×${n ?? 0}` : avg.toFixed(2)}`)
      .join(", "),
    40,
  );
