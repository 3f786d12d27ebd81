/**
 * Letters outside ASCII whose cases are tried one by one. Texts with more are tried as given, in small letters, in capitals,
 * and with capitals at the beginning of words and of the text.
 */
const MOST_CASED = 3;

/**
 * Returns the texts of which one occurs, ignoring case, where the text is found. JSON has other spellings: quotes and
 * line ends are escaped, and some clients escape all non-ASCII characters, each case of a letter differently.
 */
export function searchSpellings(text: string): string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  return [...new Set([text, inJson, ...casings(inJson).map(escapeNonAscii)])];
}

const escapeNonAscii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Returns the text with its letters outside ASCII in either case. */
function casings(text: string): string[] {
  const letters = Array.from(text, (char): string[] => {
    const both = [...new Set([char, char.toLowerCase(), char.toUpperCase()])];
    // some letters have a longer form only, such as ß
    return char > "\u007f" ? both.filter(({ length }) => length === char.length) : [char];
  });
  const cased = letters.filter(({ length }) => length > 1);
  if (cased.length > MOST_CASED) {
    const inCase = (convert: (form: string) => string): string =>
      letters.map((forms) => forms.find((form) => form === convert(form)) ?? forms[0]!).join("");
    const small = inCase((form) => form.toLowerCase());
    const capital = inCase((form) => form.toUpperCase());
    const words = small.replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());
    return [text, small, capital, words, small.replace(/\p{L}/u, (letter) => letter.toUpperCase())];
  }
  return letters.reduce((starts, forms) => starts.flatMap((start) => forms.map((form) => start + form)), [""]);
}
