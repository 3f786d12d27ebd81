import { expect, test } from "vitest";

import { checkTemplate, renderTemplate } from "./template.ts";

const inputs = { question: "Why?", n: 3, list: [{ a: 1 }, { a: 2 }], nothing: null };

test("a lone placeholder keeps the type of its value, others become text", () => {
  const template = {
    all: "{{inputs}}",
    n: "{{ inputs.n }}",
    text: "n is {{inputs.n}}, {{inputs.list}}",
    deep: [["{{inputs.list.-1.a}}"]],
  };
  expect(renderTemplate(template, { inputs })).toEqual({
    all: inputs,
    n: 3,
    text: 'n is 3, [{"a":1},{"a":2}]',
    deep: [[2]],
  });
});

test("a path without a value becomes null, and names no inherited property", () => {
  const template = [
    "{{inputs.none.at.all}}",
    "{{inputs.constructor}}",
    "{{inputs.list.length}}",
    "<{{inputs.nothing}}>",
  ];
  expect(renderTemplate(template, { inputs })).toEqual([null, null, null, "<>"]);
});

test("a value that looks like a template is not rendered again", () => {
  expect(renderTemplate("{{inputs.question}}", { inputs: { question: "{{inputs.n}}" } })).toBe("{{inputs.n}}");
});

test("rejects unknown roots and malformed paths, naming the field", () => {
  for (const bad of ["{{outputs.x}}", "{{}}", "{{inputs..x}}", "{{reference}}"]) {
    expect(() => checkTemplate({ a: [bad] }, ["inputs"], "target.body")).toThrow(/target\.body: .*is not a value/);
  }
  expect(() => checkTemplate({ a: "{{inputs.x.0}} {not one}" }, ["inputs"], "t")).not.toThrow();
});
