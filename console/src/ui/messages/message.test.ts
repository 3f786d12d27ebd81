import { expect, test } from "vitest";

import { asMessage, asMessages, messageText } from "./message.ts";

test("reads LangChain's flat and constructor forms, OpenAI's form and pairs as the same message", () => {
  const forms = [
    { type: "human", content: "hi" },
    { lc: 1, type: "constructor", id: ["langchain_core", "messages", "HumanMessage"], kwargs: { content: "hi" } },
    { role: "user", content: "hi" },
    ["user", "hi"],
    { type: "human", data: { content: "hi" } },
  ];
  for (const form of forms) expect(asMessage(form)).toMatchObject({ role: "user", content: "hi" });
});

test("reads tool calls from each vendor's place", () => {
  const calls = (value: object) => asMessage({ type: "ai", content: "", ...value })!.toolCalls;
  expect(calls({ tool_calls: [{ id: "1", name: "f", args: { a: 1 } }] })).toMatchObject([
    { name: "f", args: { a: 1 } },
  ]);
  const legacy = { tool_calls: [{ id: "1", function: { name: "f", arguments: '{"a":1}' } }] };
  expect(calls({ additional_kwargs: legacy })).toMatchObject([{ id: "1", name: "f", args: { a: 1 } }]);
  expect(calls({ invalid_tool_calls: [{ name: "f", args: '{"a', error: "Malformed args." }] })).toMatchObject([
    { name: "f", args: '{"a', error: "Malformed args." },
  ]);
});

test("other values are not messages", () => {
  expect(asMessage({ type: "text", text: "x" })).toBeNull();
  expect(asMessage(["a", "b", "c"])).toBeNull();
  expect(asMessages([])).toBeNull();
  expect(asMessages([{ role: "user", content: "x" }, 1])).toBeNull();
  expect(asMessages("x")).toBeNull();
});

test("joins the text parts of a message", () => {
  expect(messageText({ content: [{ type: "text", text: "a" }, { type: "image_url" }, "b"] })).toBe("ab");
  expect(messageText({ content: null })).toBe("");
});
