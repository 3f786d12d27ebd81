import { expect, test } from "vitest";

import { StoredItem } from "./list-item.ts";
import { markStored } from "../../graph-host/src/checkpoints/stored-items.ts";
import { toJson, toSharedParts } from "../../graph-host/src/serialize.ts";
import { encodeSharedJson, SharedJson } from "./shared-json.ts";

const items = ["ä", "b", "c"].map((text) => new StoredItem({ text: "", wire: JSON.stringify({ content: text }) }));
const decode = (value: unknown) => new SharedJson(Buffer.from(encodeSharedJson(toSharedParts(value))));

test("states with common items are the text that they would be by themselves, each item sent once", () => {
  const states = [3, 2, 0].map((length) => ({ values: { messages: markStored(items.slice(0, length)), n: "ü" } }));
  const shared = decode(states);
  const expected = [3, 2, 0].map((length) => ({
    values: { messages: items.slice(0, length).map((item) => item.toJSON()), n: "ü" },
  }));
  expect(JSON.parse(shared.toString())).toEqual(expected);
  expect(shared.length).toBe(Buffer.byteLength(JSON.stringify(expected)));
  expect(encodeSharedJson(toSharedParts(states)).match(/"content":"b"/g)).toHaveLength(1);
});

test("lists may have items in another order, or several times", () => {
  const [a, b, c] = items as [StoredItem, StoredItem, StoredItem];
  const value = [markStored([a, b, c]), markStored([c, a]), markStored([b, b]), markStored([])];
  expect(decode(value).toString()).toBe(toJson(value.map((list) => list.map((item) => item.toJSON()))));
});

test("large texts that several states contain are sent once", () => {
  const text = `ä "quoted"\n`.repeat(5000);
  const states = [0, 1, 2].map((n) => ({ values: { n, text, messages: markStored(items) }, writes: [{ text }] }));
  const encoded = encodeSharedJson(toSharedParts(states));
  expect(encoded.length).toBeLessThan(1.5 * JSON.stringify(text).length);
  const shown = states.map(({ values, writes }) => ({
    values: { ...values, messages: items.map((item) => item.toJSON()) },
    writes,
  }));
  expect(JSON.parse(decode(states).toString())).toEqual(shown);
  expect(decode(text).toString()).toBe(toJson(text));
});

test("a copied list has the values of its items", () => {
  expect(toJson({ last: items.slice(1) })).toBe('{"last":[{"content":"b"},{"content":"c"}]}');
});

test("other values are plain text", () => {
  expect(toSharedParts({ a: [1] })).toEqual(['{"a":[1]}']);
});
