import { expect, test } from "vitest";

import { joinArray, splitArray } from "./msgpack-array.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
/** A value with a length of `bytes` bytes after its first byte and `extra` bytes before its content. */
function sized(kind: number, bytes: number, length: number, extra = 0): Buffer {
  const head = Buffer.alloc(1 + bytes + extra);
  head[0] = kind;
  head.writeUIntBE(length, 1, bytes);
  return Buffer.concat([head, Buffer.alloc(length, 0x7a)]);
}

const ITEMS = [
  ...["c0", "c2", "c3", "00", "7f", "e0", "ff", "cc80", "cd0100", "ce00010000", "cf0000010000000000"].map(hex),
  ...["d080", "d18000", "d280000000", "d38000000000000000", "ca3fc00000", "cb3ff8000000000000"].map(hex),
  ...["a0", "a161", "d40101", "d5010102", "d601 01020304", `d701${"00".repeat(8)}`, `d801${"00".repeat(16)}`].map(hex),
  ...[sized(0xd9, 1, 40), sized(0xda, 2, 300), sized(0xdb, 4, 70_000)],
  ...[sized(0xc4, 1, 40), sized(0xc5, 2, 300), sized(0xc6, 4, 70_000)],
  ...[sized(0xc7, 1, 40, 1), sized(0xc8, 2, 300, 1), sized(0xc9, 4, 70_000, 1)],
  // nested: [], [1, [2]], {"a": {"b": nil}}, an array and a map with 16 bits of length, and with 32
  ...["90", "92 01 91 02", "81 a161 81 a162 c0", "dc0002 01 02", "de0001 a161 01"].map(hex),
  ...["dd00000002 01 90", "df00000001 a161 92 01 02"].map(hex),
];

test("splits an array into its items and joins them again, whatever they are", () => {
  for (const items of [
    ITEMS,
    ITEMS.slice(0, 15),
    ITEMS.slice(0, 16),
    [],
    Array.from({ length: 70_000 }, () => hex("01")),
  ]) {
    const data = joinArray(items);
    expect(splitArray(data)).toEqual(items);
    expect(data.subarray(data.length - Buffer.concat(items).length)).toEqual(Buffer.concat(items));
  }
  expect(joinArray(ITEMS.slice(0, 15))[0]).toBe(0x9f);
  expect(joinArray(ITEMS)[0]).toBe(0xdc);
  const many = joinArray(Array.from({ length: 70_000 }, () => Buffer.of(1)));
  expect(many.subarray(0, 6).toString("hex")).toBe("dd0001117001");
  expect(splitArray(many)).toHaveLength(70_000);
});

test("does not split other values, or an array with bytes after it", () => {
  expect(splitArray(hex("81 a161 01"))).toBeUndefined();
  expect(splitArray(hex("c0"))).toBeUndefined();
  expect(splitArray(hex("91 01 02"))).toBeUndefined();
});
