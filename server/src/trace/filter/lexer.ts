import { cleanStrings } from "../../base/http/json-body.ts";
import { FilterError } from "./filter-error.ts";

export type Token =
  | { kind: "word"; at: number; text: string }
  | { kind: "string"; at: number; text: string }
  | { kind: "number"; at: number; value: number; text: string }
  | { kind: "mark"; at: number; text: "(" | ")" | "[" | "]" | "," }
  | { kind: "end"; at: number };

/** Longer than hand-written filters, and few enough ids for one statement. */
export const MAX_LENGTH = 65_536;

const SPACE = /\s+/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const MARKS = "()[],";

/** Tokenizes an expression; the last token is `end`. */
export function tokenize(source: string): Token[] {
  if (source.length > MAX_LENGTH) {
    throw new FilterError(
      `an expression can have at most ${MAX_LENGTH} characters, this one has ${source.length}`,
      MAX_LENGTH,
    );
  }
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  while (at < source.length) {
    const char = source[at]!;
    const space = take(SPACE);
    if (space) {
      at += space.length;
      continue;
    }
    if (MARKS.includes(char)) {
      tokens.push({ kind: "mark", at, text: char as "(" });
      at += 1;
      continue;
    }
    if (char === '"' || char === "'") {
      const { text, end } = readString(source, at);
      tokens.push({ kind: "string", at, text });
      at = end;
      continue;
    }
    const word = take(WORD);
    if (word) {
      tokens.push({ kind: "word", at, text: word });
      at += word.length;
      continue;
    }
    const digits = take(NUMBER);
    if (digits === undefined) throw new FilterError(`unexpected ${JSON.stringify(char)}`, at);
    const value = Number(digits);
    if (!Number.isFinite(value)) throw new FilterError(`the number ${digits} is too large`, at);
    tokens.push({ kind: "number", at, value, text: digits });
    at += digits.length;
  }
  tokens.push({ kind: "end", at: source.length });
  return tokens;
}

const ESCAPES: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", "/": "/" };

/**
 * Reads a string in either kind of quotes. JSON escapes work as in JSON; a backslash before any other character stays,
 * so that `like(name, "100\%")` needs no doubling.
 */
function readString(source: string, start: number): { text: string; end: number } {
  const quote = source[start]!;
  let text = "";
  let at = start + 1;
  for (;;) {
    const char = source[at];
    if (char === undefined) throw new FilterError("unterminated string", start);
    at += 1;
    if (char === quote) return { text: cleaned(text), end: at };
    if (char !== "\\") {
      text += char;
      continue;
    }
    const next = source[at];
    if (next === undefined) throw new FilterError("unterminated string", start);
    if (next === "u" && /^[0-9a-fA-F]{4}$/.test(source.slice(at + 1, at + 5))) {
      text += String.fromCharCode(Number.parseInt(source.slice(at + 1, at + 5), 16));
      at += 5;
      continue;
    }
    at += 1;
    if (next === "\\" || next === '"' || next === "'") text += next;
    else text += ESCAPES[next] ?? "\\" + next;
  }
}

/** Removes null characters and lone surrogates, which stored text never contains (base/http/json-body.ts). */
const cleaned = (text: string): string => cleanStrings(text) as string;
