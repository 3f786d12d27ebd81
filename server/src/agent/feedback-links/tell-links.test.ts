import { expect, test } from "vitest";

import { linksOf, withLinks } from "./tell-links.ts";

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
  expect(linksOf('{"input": {"feedback_urls": 1}}')).toBeUndefined();
  expect(linksOf('{"input": null}')).toBeUndefined();
  expect(linksOf(`{"feedback_urls": ${links}}`)).toBe(links);
});
