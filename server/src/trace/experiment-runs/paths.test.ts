import { expect, test } from "vitest";

import { parsePath, readPath } from "../datasets/run-path.ts";
import * as evaluators from "../evaluators/read-path.ts";
import type { Subject } from "../evaluators/schema.ts";
import { checkTemplate, renderTemplate } from "./template.ts";

const inputs = { messages: [{ content: "first" }, { content: "last" }], "a.b": 1, map: { "0": "zero" } };
const run = { inputs, outputs: { answer: "4" }, metadata: { "ls.key": "k" }, tags: ["t"], name: "n" };

test.each([
  ["inputs.messages[-1].content", "last"],
  ["inputs.messages.-1.content", "last"],
  ["inputs.messages.0.content", "first"],
  ['inputs["a.b"]', 1],
  ['inputs["map"].0', "zero"],
  ["inputs.messages.length", undefined],
  ["inputs.constructor", undefined],
  ["inputs.messages[9]", undefined],
])("mappings, variables and templates read %s alike", (text, wanted) => {
  const steps = parsePath(text);
  expect(readPath(run, steps as string[])).toBe(wanted);
  const subject = { kind: "run", run } as unknown as Subject;
  expect(evaluators.readPath(subject, evaluators.parsePath(text)!)).toBe(wanted);
  checkTemplate(`{{${text}}}`, ["inputs"], "body");
  expect(renderTemplate(`{{${text}}}`, run)).toBe(wanted ?? null);
});

test("evaluators' spellings of roots are those of mappings too, and malformed paths are none anywhere", () => {
  expect(parsePath("run.input.messages[0]")).toEqual(["inputs", "messages", 0]);
  for (const bad of ["inputs..a", "inputs.", "inputs[x]", ".inputs", 'inputs["a]']) {
    expect(typeof parsePath(bad)).toBe("string");
    expect(evaluators.parsePath(bad)).toBeUndefined();
    expect(() => checkTemplate(`{{${bad}}}`, ["inputs"], "body")).toThrow(/is not a value/);
  }
});
