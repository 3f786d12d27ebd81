import { expect, test } from "vitest";

import { rawFields, rawListFields } from "./raw-fields.ts";

const TEXT = String.raw` { "none" : null, "post" :[ { "a\"b" : 1.0 , "c":"x}\\\"]", "d\u0041": [1,{"e":[]}] } , {},
  "not an object", {"n":12345678901234567890}] ,"empty": [ ], "patch":[{"post":{"id":1}}] } `;

test("returns the text of each value of the objects in lists, as written", () => {
  const texts = [...rawListFields(TEXT)].map(([list, elements]) => [
    list,
    elements.map((fields) =>
      Object.fromEntries([...fields].map(([key, { start, end }]) => [key, TEXT.slice(start, end)])),
    ),
  ]);
  expect(Object.fromEntries(texts)).toEqual({
    post: [{ 'a"b': "1.0", c: String.raw`"x}\\\"]"`, dA: '[1,{"e":[]}]' }, {}, {}, { n: "12345678901234567890" }],
    empty: [],
    patch: [{ post: '{"id":1}' }],
  });
});

test("takes the last of equal names, as JSON.parse does", () => {
  const twice = '{"post":[{"a":1}],"post":[{"a":2,"a":3}],"patch":[{"a":1}],"patch":null}';
  const lists = rawListFields(twice);
  const { start, end } = lists.get("post")![0]!.get("a")!;
  expect([lists.get("post")!.length, twice.slice(start, end), lists.get("patch")]).toEqual([1, "3", undefined]);
});

test("returns the values of one object", () => {
  const text = '{"a":{"b":[1, 2]},"c":-1e3}';
  expect([...rawFields(text)].map(([key, { start, end }]) => [key, text.slice(start, end)])).toEqual([
    ["a", '{"b":[1, 2]}'],
    ["c", "-1e3"],
  ]);
});
