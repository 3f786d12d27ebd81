import { expect, test } from "vitest";

import { searchSpellings } from "./search-spellings.ts";

/** As a client that escapes all non-ASCII characters writes it. */
const escaped = (text: string) =>
  JSON.stringify(text).replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const isFound = (needle: string, text: string) =>
  searchSpellings(needle).some((spelling) => escaped(text).toLowerCase().includes(spelling.toLowerCase()));

test.each([
  ["MÄRK", "a märk in the text"],
  ["märk", "A MÄRK"],
  ["Ärger über Öl", "ÄRGER ÜBER ÖL"],
  ["ärger über öl", "Ärger über Öl"],
  ["привет мир", "ПРИВЕТ МИР"],
  ["привет мир", "Привет мир"],
  ["ПРИВЕТ МИР", "Привет Мир"],
  ['say "Ñ"\n', 'SAY "ñ"\n'],
  ["straße", "Straße"],
  ["😀", "so 😀"],
])("%j is found in %j, whatever is escaped", (needle, text) => {
  expect(isFound(needle, text)).toBe(true);
  expect(isFound(needle, "Öfen, мы, n")).toBe(false);
});

test("a text has few spellings, however long it is", () => {
  expect(searchSpellings("plain")).toEqual(["plain"]);
  expect(searchSpellings("日本")).toEqual(["日本", "\\u65e5\\u672c"]);
  expect(searchSpellings("ж".repeat(10_000))).toHaveLength(4);
});
