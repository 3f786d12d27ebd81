import fc from "fast-check";
import { expect, test } from "vitest";

import { cleanText, jsonbText } from "./jsonb-text.ts";

const replaced = (text: string): string => text.replaceAll("\0", "\ufffd").replaceAll(/\p{Surrogate}/gu, "\ufffd");

test("replaces null characters and lone surrogates with U+FFFD, in keys too, and nothing else", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "\0", "\ud800", "\udc00", "😀", "\\", '"', "u0000", "ud800", "\n"),
  });
  fc.assert(
    fc.property(text, text, (key, value) => {
      const cleaned = JSON.parse(jsonbText(JSON.stringify([{ [key]: [value, 1, null, true] }]))) as unknown;
      expect(cleaned).toEqual([{ [replaced(key)]: [replaced(value), 1, null, true] }]);
      expect(cleanText(value)).toBe(replaced(value));
    }),
  );
});

test("returns other text unchanged", () => {
  const json = '{"a": 1.50,  "b":"\\u00e9"}';
  expect(jsonbText(json)).toBe(json);
});
