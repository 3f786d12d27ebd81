import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { DETECTORS } from "./detectors.ts";
import { maskJson, maskText } from "./mask-json.ts";
import { maskBatch, maskEverything, readMasking } from "./read-masking.ts";

const labelled = JSON.parse(readFileSync(new URL("labelled.json", import.meta.url), "utf8")) as {
  /** Of the field that has the text. */
  name?: string;
  text: string;
  masked: string;
}[];
const all = { path: [], detectors: [...DETECTORS] };

test.each(labelled)("$text", ({ text, masked, name }) => {
  const counts = [0];
  expect(maskText(text, [all], counts, [], name)).toBe(masked);
  expect(counts[0]! > 0).toBe(text !== masked);
  // a masked text is not masked again
  expect(maskText(masked, [all], [0])).toBe(masked);
});

test("hostile texts take linear time", () => {
  for (const unit of [
    "a",
    "1",
    "1 ",
    "a@",
    "a.",
    "+1",
    "0-",
    "eyJ",
    "-eyJ",
    ":",
    "password=",
    "AB12 ",
    "-----BEGIN PRIVATE KEY-----",
    "://a:",
    "ж@",
    "字.",
    "tel 1",
    ".eyJaaaaaaaa",
    "a'",
    "basic a",
    "?key=",
  ]) {
    const text = unit.repeat(400_000 / unit.length);
    const before = performance.now();
    maskText(text, [all], [0]);
    expect([unit, performance.now() - before < 3000]).toEqual([unit, true]);
  }
}, 60_000);

test("replaces strings where they stand, and nothing else", () => {
  const text =
    '{ "n": 1.0, "big": 12345678901234567890, "a@b.example": "to a@b.example", "list": ["x", {"u": "\\u0061@b.example"}] }';
  expect(maskJson(text, [{ path: [], detectors: ["email"] }])).toEqual({
    text: '{ "n": 1.0, "big": 12345678901234567890, "[email]": "to [email]", "list": ["x", {"u": "[email]"}] }',
    counts: [3],
  });
});

test("masks by path, whole values, names and patterns", () => {
  const text = '{"messages":[{"content":"call 12345","id":"12345"},{"content":{"deep":[1,"12345"]}}],"api_key":"x"}';
  const digits = { detectors: [], replacePattern: (t: string, f: (s: string) => string) => t.replace(/\d{5}/g, f) };
  const found = maskJson(text, [
    { path: ["messages", "*", "content"], ...digits, replacement: "#" },
    { path: ["messages", "1"], detectors: [] },
    { path: [], detectors: ["secret"] },
  ]);
  expect(found).toEqual({
    text: '{"messages":[{"content":"call #","id":"12345"},"[masked]"],"api_key":"[secret]"}',
    counts: [1, 1, 1],
  });
  expect(maskJson('{"a":1}', [{ path: [], detectors: [], isField: true }]).text).toBe("{}");
  expect(maskJson('"a@b.example"', [all]).text).toBe('"[email]"');
});

test("masks the fields of a batch, and all of them when the setting cannot be read", () => {
  const body = '{"post":[{"name":"a@b.example","inputs":{"x":"a@b.example"},"error":"at a@b.example"}],"patch":[]}';
  expect(maskBatch(readMasking('[{"fields":["inputs"],"detectors":["email"]}]')!)(body)).toBe(
    body.replace('"x":"a@b.example"', '"x":"[email]"'),
  );
  const extra = '{"post":[{"extra":{"metadata":{"user":"a@b.example"},"x":"a@b.example"}}],"patch":[]}';
  expect(maskBatch(readMasking('[{"fields":["metadata"],"detectors":["email"]}]')!)(extra)).toBe(
    extra.replace('"user":"a@b.example"', '"user":"[email]"'),
  );
  expect(maskBatch(readMasking("email")!)(extra)).toBe(extra);
  expect(maskBatch(maskEverything())(body)).toBe(
    '{"post":[{"name":"a@b.example","inputs":{},"error":"[masked]"}],"patch":[]}',
  );
});

test("a deep value takes linear time", () => {
  const text = `${"[".repeat(900)}${Array.from({ length: 20_000 }, () => '"a"').join(",")}${"]".repeat(900)}`;
  const before = performance.now();
  expect(maskJson(`{"password":${text}}`, [all]).counts).toEqual([20_000]);
  expect(performance.now() - before).toBeLessThan(1000);
});

test("reads the setting of hosts", () => {
  expect(readMasking(" ")).toBeUndefined();
  expect(readMasking("email, card")!.inputs).toEqual([{ path: [], detectors: ["email", "card"] }]);
  const rules = readMasking('[{"fields":["outputs"],"path":"a.*","pattern":"x+","replacement":"y"}]')!;
  expect([Object.keys(rules), maskJson('{"a":["xx"]}', rules.outputs!).text]).toEqual([["outputs"], '{"a":["y"]}']);
  expect(() => readMasking("emails")).toThrow('no detector "emails"');
});
