import { expect, test } from "vitest";

import { listVariables, splitTemplate } from "./template.ts";

test("finds the variables of f-strings, without doubled braces", () => {
  expect(listVariables("{a} {{not}} {b!r:>10} {user.name} {first name} { c } {d-e} {a}", "f-string")).toEqual([
    "a",
    "b",
    "user.name",
    "first name",
    "c",
    "d-e",
  ]);
  expect(splitTemplate("Hi {name}!", "f-string")).toEqual([
    { text: "Hi ", variable: null },
    { text: "{name}", variable: "name" },
    { text: "!", variable: null },
  ]);
  expect(splitTemplate('{{"a": 1}}', "f-string")).toEqual([{ text: '{{"a": 1}}', variable: null }]);
});

test("finds the variables of mustache templates, and none within sections", () => {
  const template = "{{a}} {{{b}}} {{& c}} {{#items}}{{name}} {{.}}{{/items}}{{^d}}none{{/d}} {{user.name}} {{! note }}";
  expect(listVariables(template, "mustache")).toEqual(["a", "b", "c", "items", "d", "user"]);
});

test("finds the variables of jinja2 expressions", () => {
  expect(listVariables("{% if x %}{{ y | upper }}{% endif %}{# z #}", "jinja2")).toEqual(["y"]);
});

test("the parts are the template", () => {
  for (const template of ["", "{", "}}", "{a", "{{a", "{{{a}}", "a {b} c", "{} {0}"]) {
    for (const format of ["f-string", "mustache", "jinja2"] as const) {
      const parts = splitTemplate(template, format);
      expect(parts.map(({ text }) => text).join("")).toBe(template);
    }
  }
});
