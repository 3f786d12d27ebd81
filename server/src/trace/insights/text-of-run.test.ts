import { expect, test } from "vitest";

import { failureOf, questionOf, tidy } from "./text-of-run.ts";

const row = { id: "1", inputs: null, inputs_preview: null, outputs_preview: null, error: null };

test.each([
  [
    {
      messages: [
        { role: "user", content: "first" },
        { role: "assistant", content: "no" },
        { type: "human", content: "last" },
      ],
    },
    "last",
  ],
  [{ other: "a", question: "Why?" }, "Why?"],
  [{ anything: "text" }, "text"],
  [{ n: 1 }, "preview"],
])("finds the question in %j", (inputs, question) => {
  expect(questionOf({ inputs: JSON.stringify(inputs), inputs_preview: "preview" })).toBe(question);
});

test("accepts inputs that are cut, missing or empty", () => {
  expect(questionOf({ inputs: '{"messages": [', inputs_preview: "preview" })).toBe("preview");
  expect(questionOf({ inputs: null, inputs_preview: null })).toBe("");
});

test("leaves ids and numbers out of errors", () => {
  const error = "Timeout: run 0193f0aa-1111-7000-8000-00000000abcd after 30 s at 0xdeadbeef";
  expect(failureOf({ ...row, error, inputs_preview: "hi" }, undefined)).toBe("Timeout: run # after # s at # Asked: hi");
  expect(failureOf({ ...row, inputs_preview: "hi", outputs_preview: "ho" }, "rude")).toBe(
    "Bad feedback: rude Asked: hi Answer: ho",
  );
});

test("removes control characters and lone surrogates, and cuts", () => {
  expect(tidy(`a\0b\u202Ec\n\n  d${"x".repeat(100)}`, 10)).toBe("a b c dxxx");
  expect(tidy("😀😀", 3)).toBe("😀\uFFFD");
});
