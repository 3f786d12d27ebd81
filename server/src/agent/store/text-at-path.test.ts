import { expect, test } from "vitest";

import { parsePath, textsAt } from "./text-at-path.ts";

const value = {
  title: "Tea",
  empty: "",
  none: null,
  n: 7,
  deep: { list: [{ t: "a" }, { t: "b" }, { other: 1 }] },
};
const at = (path: string) => textsAt(value, parsePath(path));

test("a path selects a text, several texts, or nothing", () => {
  expect(at("title")).toEqual(["Tea"]);
  expect(at("n")).toEqual(["7"]);
  expect(at("deep.list[0].t")).toEqual(["a"]);
  expect(at("deep.list[-2].t")).toEqual(["b"]);
  expect(at("deep.list[*].t")).toEqual(["a", "b"]);
  expect(at("deep.list[2]")).toEqual(['{"other":1}']);
  expect(at("$")).toEqual([JSON.stringify(value)]);
  expect(at("$.title")).toEqual(["Tea"]);
  for (const nothing of ["empty", "none", "missing", "title.x", "deep.list[9]", "deep.list.length", "constructor"]) {
    expect(at(nothing)).toEqual([]);
  }
});

test.each(["", ".a", "a..b", "a[", "a[x]", "a]b", "$."])("rejects %j as a path", (text) => {
  expect(() => parsePath(text)).toThrow(/path/);
});
