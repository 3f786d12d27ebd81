import { expect, test } from "vitest";

import { rawMember } from "./raw-member.ts";

test("returns the member's text unchanged", () => {
  const manifest = '{ "n": 1.0, "big": 12345678901234567890, "text": "\\u00e4 } \\" ,", "list":[{"manifest":1}] }';
  const text = `{"commit_hash":"ab","x":{"manifest":0},"manifest": ${manifest} ,"examples":[]}`;
  expect(rawMember(text, "manifest")).toBe(manifest);
  expect(rawMember(text, "examples")).toBe("[]");
  expect(rawMember(text, "commit_hash")).toBe('"ab"');
});

test("is undefined for an absent member", () => {
  expect(rawMember('{"a":"manifest","b":{"manifest":1}}', "manifest")).toBeUndefined();
  expect(rawMember("{}", "manifest")).toBeUndefined();
});
