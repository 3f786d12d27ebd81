import { HumanMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";

import { toJson } from "../serialize.ts";
import { stateText, type StoredLists, UNKNOWN_LISTS } from "./state-text.ts";

const rest = { next: ["n"], interrupts: { t: [{ id: "i" }] }, of: "c2" };
const range = (n: number) => Array.from({ length: n }, (_, i) => i);
const parse = (values: unknown, stored: StoredLists = UNKNOWN_LISTS) =>
  JSON.parse(stateText({ values, ...rest }, stored)) as Record<string, unknown>;

test("short values stay together", () => {
  const values = { topic: "t", log: range(63), none: null, skipped: undefined, call: () => 1, messages: [] };
  expect(parse(values)).toEqual({ values: { topic: "t", log: range(63), none: null, messages: [] }, ...rest });
  expect(stateText({ values, ...rest }, UNKNOWN_LISTS)).toBe(toJson({ values, ...rest }));
});

test("lists of 64 items, or of more than 16 KiB, are apart, and come first", () => {
  const [large, letters] = [["x".repeat(16 * 1024)], ["ж".repeat(8 * 1024)]];
  const fits = ["x".repeat(16 * 1024 - 4)];
  const values = { long: range(64), large, letters, fits, short: [1], text: "x".repeat(20_000) };
  expect(parse(values)).toEqual({
    lists: {
      long: { keep: 0, items: range(64) },
      large: { keep: 0, items: large },
      letters: { keep: 0, items: letters },
    },
    values: { fits, short: [1], text: values.text },
    ...rest,
  });
  expect(stateText({ values, ...rest }, UNKNOWN_LISTS)).toMatch(/^\{"lists":/);
  expect(JSON.parse(stateText({ values, ...rest }))).toEqual({ values, ...rest });
});

test("serializes values as JSON.stringify and the stream do", () => {
  const list = [
    undefined,
    () => 1,
    10n,
    new HumanMessage({ content: "hi", id: "m" }),
    new Map([["a", 1]]),
    "a\0b\ud800",
  ];
  // oxlint-disable-next-line no-sparse-arrays
  const values = { list: [...list, ...range(64), , null], 'a"b': list, when: new Date(0), 7: "n" };
  const whole = JSON.parse(toJson(values)) as { list: unknown[] };
  const { list: items, ...others } = whole;
  expect(parse(values)).toEqual({ lists: { list: { keep: 0, items } }, values: others, ...rest });
});

test("other values than plain objects stay whole", () => {
  for (const values of [
    range(100),
    "text",
    null,
    new Map([["long", range(100)]]),
    { toJSON: () => ({ n: 1 }), long: range(100) },
  ]) {
    expect(parse(values)).toEqual(JSON.parse(toJson({ values, ...rest })));
  }
  expect(stateText({}, UNKNOWN_LISTS)).toBe("{}");
});

test("channels with names that Postgres would change, or that are too long, stay whole", () => {
  const values = { ["a\0"]: range(64), ["k".repeat(201)]: range(64), ключ: range(64) };
  const { lists, values: others } = parse(values);
  expect(Object.keys(lists as object)).toEqual(["ключ"]);
  expect(Object.keys(others as object)).toEqual(["a\ufffd", "k".repeat(201)]);
});

test("items that are stored are not sent again", () => {
  const stored: StoredLists = {
    base: "c1",
    listChange: (channel, list) => ({
      keep: channel === "long" ? 2 : 0,
      items: list.slice(channel === "long" ? 2 : 0).map(toJson),
    }),
  };
  expect(parse({ long: [1, 2, 3], other: [1] }, stored)).toEqual({
    lists: { long: { keep: 2, items: [3] } },
    base: "c1",
    values: { other: [1] },
    ...rest,
  });
});

test("a circular value fails", () => {
  const list: unknown[] = range(64);
  list.push({ list });
  expect(() => stateText({ values: { list }, ...rest }, UNKNOWN_LISTS)).toThrow("circular");
});
