/**
 * Returns the texts of which one occurs, ignoring case, where the text is found. JSON has other spellings: quotes and
 * line ends are escaped, and some clients escape all non-ASCII characters.
 */
export function searchSpellings(text: string): string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const inAsciiJson = inJson.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [...new Set([text, inJson, inAsciiJson])];
}
