import { expect, test } from "vitest";

import { byteaText } from "./bytea-text.ts";
import { StatementBody } from "./statement-body.ts";

const at = (body: StatementBody, { at, length }: { at: number; length: number }) =>
  body
    .bytes()
    .subarray(at - 1, at - 1 + length)
    .toString();

test("a large part that an earlier one contains is not added again", () => {
  const body = new StatementBody();
  const large = JSON.stringify("x".repeat(40_000));
  const state = `{"values":{"text":${large}}}`;
  const spans = [state, large, Buffer.from(large), "small", large].map((part) => body.add(part));
  expect(spans.map((span) => at(body, span))).toEqual([state, large, large, "small", large]);
  expect(body.bytes().length).toBe(state.length + "small".length);
});

test("large parts that only begin alike are all added", () => {
  const body = new StatementBody();
  const parts = ["a", "b", "a"].map((end) => "x".repeat(40_000) + end);
  const spans = parts.map((part) => body.add(part));
  expect(spans.map((span) => at(body, span))).toEqual(parts);
  expect(spans[2]!.at).toBe(spans[0]!.at);
  expect(body.bytes().length).toBe(80_002);
});

test("parts of a pair follow each other, whatever their size", () => {
  const body = new StatementBody();
  const large = "x".repeat(40_000);
  body.add(large);
  const [first, second] = body.addPair(large, large);
  expect(second.at).toBe(first.at + first.length);
});

test("bytes that are UTF-8 are sent with escaped backslashes, others in hexadecimal", () => {
  expect(byteaText(Buffer.from('{"a":"\\n\\\\ä"}'))).toBe('{"a":"\\\\n\\\\\\\\ä"}');
  expect(byteaText(Buffer.from("plain"))).toBe("plain");
  expect(byteaText(Buffer.from("\\xff"))).toBe("\\\\xff");
  expect(byteaText(Buffer.from([0]))).toBe("\\x00");
  expect(byteaText(Buffer.from([0xff, 0x5c]))).toBe("\\xff5c");
});
