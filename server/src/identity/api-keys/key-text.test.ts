import fc from "fast-check";
import { expect, test } from "vitest";

import { hashKey, looksLikeKey, newKey, shortKey } from "./key-text.ts";

test("recognizes valid keys by their checksum, without a look-up", () => {
  const key = newKey("service");
  expect(looksLikeKey(key)).toBe(true);
  expect(looksLikeKey(newKey("personal"))).toBe(true);
  for (let at = 0; at < key.length; at++) {
    const wrong = key[at] === "a" ? "b" : "a";
    expect(looksLikeKey(key.slice(0, at) + wrong + key.slice(at + 1))).toBe(false);
  }
  for (const other of [
    "",
    "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789",
    ` ${key}`,
    `${key}\n`,
    key.slice(0, -1),
  ]) {
    expect(looksLikeKey(other)).toBe(false);
  }
  fc.assert(fc.property(fc.string(), (text) => !looksLikeKey(text)));
});

test("keys are unique, and the short form shows only a few digits", () => {
  const keys = Array.from({ length: 1000 }, () => newKey("service"));
  expect(new Set(keys).size).toBe(1000);
  expect(new Set(keys.map(hashKey)).size).toBe(1000);
  expect(shortKey(keys[0]!)).toBe(`${keys[0]!.slice(0, 12)}...${keys[0]!.slice(-4)}`);
});
