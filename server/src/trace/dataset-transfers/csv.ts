import { unprocessable } from "../../base/errors.ts";

/**
 * Parses CSV (RFC 4180), record by record: commas, double quotes where needed, any line ending; skips a byte order
 * mark and empty lines.
 *
 * @throws 422 naming the line of a quote that is not closed or in the middle of a field
 */
export function* parseCsv(text: string): Generator<string[]> {
  let record: string[] = [];
  const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\r|\n|$)/gy;
  for (let at = text.startsWith("\uFEFF") ? 1 : 0; at < text.length || record.length > 0; at = FIELD.lastIndex) {
    FIELD.lastIndex = at;
    const field = FIELD.exec(text);
    if (!field) {
      const line = 1 + countLines(text.slice(0, at));
      throw unprocessable(`The CSV is malformed at line ${line}: a quote is unclosed or misplaced.`);
    }
    const [, quoted, bare, end] = field as unknown as [string, string | undefined, string | undefined, string];
    record.push(quoted === undefined ? bare! : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (record.length > 1 || record[0] !== "") yield record;
    record = [];
  }
}

/** Counts line breaks, without a list of them. */
function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === CR || (code === LF && text.charCodeAt(at - 1) !== CR)) count++;
  }
  return count;
}

const CR = 13;
const LF = 10;

/** Formats one line of CSV, with its line ending. Objects and lists are JSON. */
export const csvLine = (values: unknown[]): string => `${values.map(csvField).join(",")}\r\n`;

function csvField(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
