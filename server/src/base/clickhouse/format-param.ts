/** Value of a query parameter. Times are passed as text, exact decimals and 64-bit integers as text or bigint. */
export type Param = string | number | bigint | boolean | null | readonly Param[];

/** Formats a parameter as a literal of its ClickHouse type. */
export const paramLiteral = (value: Param, type: string): string =>
  value === null ? "NULL" : `_CAST('${escapeText(format(value))}', ${sqlLiteral(type)})`;

/** Returns the text that ClickHouse parses as the value; texts in an array are quoted. */
function format(value: Exclude<Param, null>): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "object" ? `[${value.map(formatElement).join(",")}]` : String(value);
}

function formatElement(value: Param): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${escapeText(value)}'` : format(value);
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
