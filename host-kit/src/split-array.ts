/**
 * Splits the text of a JSON array into the texts of its items, without parsing them. Returns undefined for any other
 * text. The text must be valid JSON.
 */
export function splitArray(text: string): string[] | undefined {
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_ARRAY) return undefined;
  at = skipSpace(text, at + 1);
  const items: string[] = [];
  if (text.charCodeAt(at) === CLOSE_ARRAY) return items;
  let start = at;
  let depth = 0;
  for (; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case CLOSE_ARRAY:
        if (depth === 0) {
          items.push(text.slice(start, at).trim());
          return items;
        }
        depth -= 1;
        break;
      case COMMA:
        if (depth === 0) {
          items.push(text.slice(start, at).trim());
          start = at + 1;
        }
        break;
    }
  }
  return undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \n\r\t".includes(text[at] ?? "x")) at += 1;
  return at;
}

/** Returns the position of the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
