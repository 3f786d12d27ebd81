/**
 * Returns the source text of an object's values: `{"a": 1.0}` gives `a → "1.0"`. Fields stored unparsed are sliced
 * rather than serialized again, so that numbers beyond a double's precision, and the difference between 1 and 1.0,
 * survive. The text must be valid JSON (already parsed once) with an object at `from`.
 */
export function rawFields(text: string, from = 0): Map<string, Span> {
  const fields = new Map<string, Span>();
  let at = skipSpace(text, from) + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === "}") return fields;
    const keyEnd = skipString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    fields.set(key, { start, end });
    at = skipSpace(text, end);
    if (text[at] === ",") at++;
  }
}

/** Returns the elements of the array that begins at `from`. */
export function rawElements(text: string, from: number): Span[] {
  const elements: Span[] = [];
  let at = skipSpace(text, from) + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === "]") return elements;
    const end = skipValue(text, at);
    elements.push({ start: at, end });
    at = skipSpace(text, end);
    if (text[at] === ",") at++;
  }
}

export interface Span {
  start: number;
  end: number;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}

const QUOTE = 34;
const BACKSLASH = 92;

function skipString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    // indexOf runs at memory speed; a quote after an odd number of backslashes is escaped
    at = text.indexOf('"', at);
    if (at < 0) throw new Error("unterminated string");
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}

function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return skipString(text, from);
  if (first !== "{" && first !== "[") {
    let at = from;
    while (at < text.length && !",}] \t\n\r".includes(text[at]!)) at++;
    return at;
  }
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  throw new Error("unterminated value");
}

/** Returns true if lists and objects are nested more than `max` deep. Serialization recurses on the stack. */
export function isNestedDeeper(text: string, max: number): boolean {
  if (text.length <= 2 * max) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === 123 || code === 91) {
      if (++depth > max) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}
