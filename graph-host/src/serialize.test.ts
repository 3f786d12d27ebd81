import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { toJson } from "./serialize.ts";

const through = (value: unknown): unknown => JSON.parse(toJson(value));

test("flattens messages at any depth", () => {
  const message = { type: "human", content: "hi", id: "1", additional_kwargs: {}, response_metadata: {} };
  const human = new HumanMessage({ content: "hi", id: "1" });
  expect(through({ deep: [{ human }], map: new Map([["m", human]]) })).toEqual({
    deep: [{ human: message }],
    map: { m: message },
  });
  expect(through(new AIMessageChunk({ content: "a" }))).toMatchObject({
    type: "ai",
    content: "a",
    tool_call_chunks: [],
  });
});

test("converts values that JSON cannot represent to their closest form", () => {
  class Boo extends Error {}
  expect(
    through({
      big: 12n,
      huge: 2n ** 70n,
      set: new Set([1]),
      pairs: new Map([[1, 2]]),
      bytes: new Uint8Array([1, 2]),
      date: new Date(0),
    }),
  ).toEqual({
    big: 12,
    huge: "1180591620717411303424",
    set: [1],
    pairs: [[1, 2]],
    bytes: "AQI=",
    date: "1970-01-01T00:00:00.000Z",
  });
  expect(through([new Boo("no"), undefined, () => 1, Number.NaN])).toEqual([
    { name: "Boo", message: "no" },
    null,
    null,
    null,
  ]);
  expect(toJson({ gone: undefined, kept: null })).toBe('{"kept":null}');
  expect(toJson(undefined)).toBe("null");
});

test("replaces text that jsonb rejects, and keeps escaped text that only resembles it", () => {
  const json = toJson({ "k\u0000": "a\u0000b", lone: "\ud800x", pair: "😀", written: "\\u0000 \\ud800 \\\\u0000" });
  expect(JSON.parse(json)).toEqual({
    "k\uFFFD": "a\uFFFDb",
    lone: "\uFFFDx",
    pair: "😀",
    written: "\\u0000 \\ud800 \\\\u0000",
  });
  expect(json).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d8)/);
});

test("rejects a cycle, and accepts the same object twice", () => {
  const shared = { n: 1 };
  expect(through([shared, shared])).toEqual([{ n: 1 }, { n: 1 }]);
  const circle: Record<string, unknown> = { shared };
  circle.self = [circle];
  expect(() => toJson(circle)).toThrow("circular reference");
});

test("leaves the value unchanged", () => {
  const value = { list: [new Set([1])], plain: { a: [1] } };
  toJson(value);
  expect(value.list[0]).toBeInstanceOf(Set);
});
