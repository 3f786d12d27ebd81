import { expect, test } from "vitest";

import { readRun } from "./read-run.ts";
import { matchTemplate, matchText } from "./match-template.ts";
import { newMessage, newPrompt } from "./prompt.ts";
import { chooseFormat, convertTemplate, escapeText, findVariables, templateProblem } from "./template.ts";

const names = (text: string, format: "f-string" | "mustache") => findVariables(text, format).map(({ name }) => name);

test("finds variables by the rules of each format", () => {
  expect(names("{a} {{b}} {c} {a} {d:.2f} {first name} {e.f}", "f-string")).toEqual([
    "a",
    "c",
    "d",
    "first name",
    "e.f",
  ]);
  expect(names("{{a}} {{{b}}} {{& c }} {d} {{! no }} {{> no }}", "mustache")).toEqual(["a", "b", "c"]);
  expect(findVariables("{{#items}}{{name}} {{/items}}{{^none}}x{{/none}}{{user.name}}", "mustache")).toEqual([
    { name: "items", kind: "json" },
    { name: "none", kind: "json" },
    { name: "user", kind: "json" },
  ]);
});

test("names broken braces and sections", () => {
  expect(templateProblem("{a} {{}}", "f-string")).toBeNull();
  expect(templateProblem("{a", "f-string")).toMatch("not closed");
  expect(templateProblem("a}", "f-string")).toMatch("has no");
  expect(templateProblem("{}", "f-string")).toMatch("no name");
  expect(templateProblem("{{#a}}x", "mustache")).toMatch("not closed");
  expect(templateProblem("x{{/a}}", "mustache")).toMatch("not open");
  expect(templateProblem("{{#a}}{{/a}} {", "mustache")).toBeNull();
});

test("shows a trace's braces as they are where a format allows it, and escapes them otherwise", () => {
  expect(chooseFormat(["plain"])).toBe("f-string");
  expect(chooseFormat(['{"a": 1}'])).toBe("mustache");
  expect(chooseFormat(['{"a": {"b": "{{x}}"}}'])).toBe("f-string");
  expect(escapeText("{{x}} {", "f-string")).toBe("{{{{x}}}} {{");
  const { messages, format } = readRun({ messages: [{ role: "user", content: "write {{x}}" }] });
  expect([format, messages[0]!.content]).toEqual(["f-string", "write {{{{x}}}}"]);
});

test("rewrites templates in the other format", () => {
  expect(convertTemplate('Hi {name}, write {{"a": 1}}', "f-string", "mustache")).toBe('Hi {{name}}, write {"a": 1}');
  expect(convertTemplate('Hi {{name}}, write {"a": 1}', "mustache", "f-string")).toBe('Hi {name}, write {{"a": 1}}');
});

test("reads the values with which a template rendered to a text", () => {
  expect(matchText("Hi {name}, {{ok}} {q}?", "Hi Ada, {ok} why? really?", "f-string")).toEqual({
    name: "Ada",
    q: "why? really",
  });
  expect(matchText("{a}{b}", "xy", "f-string")).toBeNull();
  expect(matchText("{a} and {a}", "x and y", "f-string")).toBeNull();
  expect(matchText("Hi {{name}}!", "Hi Ada!", "mustache")).toEqual({ name: "Ada" });
  expect(matchText("Hi", "Hello", "f-string")).toBeNull();
  expect(matchText("Hi", "Hi there", "f-string")).toBeNull();
  expect(matchText("aXa", "aXa", "f-string")).toEqual({});
  expect(matchText("{a}X", "X", "f-string")).toEqual({ a: "" });
});

test("reads the inputs of a call from its messages, with the messages of a placeholder", () => {
  const prompt = {
    ...newPrompt(),
    messages: [
      newMessage("system", "You are {tone}."),
      { ...newMessage("placeholder"), name: "history" },
      newMessage("human", "{question}"),
    ],
  };
  const history = [
    { role: "user", content: "a" },
    { role: "assistant", content: "b" },
  ];
  const messages = [{ role: "system", content: "You are kind." }, ...history, { role: "user", content: "Why?" }];
  expect(matchTemplate(prompt, messages)).toEqual({
    tone: "kind",
    question: "Why?",
    history: JSON.stringify(history, null, 2),
  });
  expect(matchTemplate(prompt, messages.slice(1))).toBeNull();
});
