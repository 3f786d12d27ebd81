/** Steps over the values of valid JSON text. */

const QUOTE = 34;
const BACKSLASH = 92;

/** Returns the end of the string that begins at `from`. @throws when it does not end */
export function skipString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    // indexOf runs at memory speed; a quote after an odd number of backslashes is escaped
    at = text.indexOf('"', at);
    if (at < 0) throw new Error("unterminated string");
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}

/** Returns the end of the value that begins at `from`. @throws when it does not end */
export function skipValue(text: string, from: number): number {
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
