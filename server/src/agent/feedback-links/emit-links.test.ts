import { expect, test } from "vitest";

import { readLinks, withLinks } from "./emit-links.ts";

const links = JSON.stringify({ score: "http://t/1" });

test.each([
  ['{"a":1}', { __feedback__: { score: "http://t/1" }, a: 1 }],
  ["{}", { __feedback__: { score: "http://t/1" } }],
  [" { } ", { __feedback__: { score: "http://t/1" } }],
  ["[1]", [1]],
  ["null", null],
])("adds the links to %s if it is an object", (answer, expected) => {
  expect(JSON.parse(withLinks(answer, links).toString())).toEqual(expected);
  expect(JSON.parse(withLinks(Buffer.from(answer), links).toString())).toEqual(expected);
  expect(withLinks(answer, undefined)).toBe(answer);
});

test("finds no links in a run whose input only mentions them", () => {
  expect(readLinks('{"input": {"feedback_urls": 1}}')).toBeUndefined();
  expect(readLinks('{"input": null}')).toBeUndefined();
  expect(readLinks(`{"feedback_urls": ${links}}`)).toBe(links);
});
