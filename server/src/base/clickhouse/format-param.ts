/** Value of a query parameter. Times are passed as text, exact decimals and 64-bit integers as text or bigint. */
export type Param = string | number | bigint | boolean | null | readonly Param[];

/**
 * Formats a parameter for ClickHouse's HTTP interface: the value in its TSV form, strings in an array as quoted
 * literals.
 */
export function formatParam(value: Param): string {
  if (value === null) return "\\N";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "object") return `[${value.map(formatElement).join(",")}]`;
  return String(value);
}

function formatElement(value: Param): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${escapeText(value)}'` : formatParam(value);
}

const ESCAPES: Record<string, string> = {
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
  "'": "\\'",
  "\\": "\\\\",
};

// oxlint-disable-next-line no-control-regex -- the characters that a text must not hold as they are
const escapeText = (text: string): string => text.replace(/[\t\n\r\0'\\]/g, (char) => ESCAPES[char]!);

/** Quotes text as an SQL literal, for statements without parameters, such as SET. */
export const sqlLiteral = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;

/** Formats a parameter as a literal of its ClickHouse type. */
export function paramLiteral(value: Param, type: string): string {
  if (value === null) return "NULL";
  const text = typeof value === "string" ? value : formatParam(value);
  return `_CAST('${escapeText(text)}', ${sqlLiteral(type)})`;
}
