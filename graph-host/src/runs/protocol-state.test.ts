import { expect, test } from "vitest";
import { protocolState } from "./protocol-state.ts";

test("removes fields that clients do not need from messages anywhere in a state", () => {
  const ai = { type: "ai", content: "hi", id: "1", additional_kwargs: { a: 1 }, response_metadata: {}, tool_calls: [] };
  expect(protocolState({ messages: [ai], deep: { last: ai }, __interrupt__: [{ id: "x" }], n: 1 })).toEqual({
    messages: [{ type: "ai", content: "hi", id: "1" }],
    deep: { last: { type: "ai", content: "hi", id: "1" } },
    n: 1,
  });
});

test("maps roles to types, and keeps the references of a tool's answer", () => {
  const tool = { type: "tool", content: "3", tool_call_id: "c", status: "error", artifact: [1], name: "add" };
  expect(protocolState([{ type: "user", content: "hi" }, tool])).toEqual([{ type: "human", content: "hi" }, tool]);
});

test("parses tool calls in a provider's form, and separates invalid ones", () => {
  const call = (id: string, name: string | undefined, args: string) => ({ id, function: { name, arguments: args } });
  const tool_calls = [call("1", "add", '{"a":1}'), call("2", "add", "{"), call("3", undefined, "{}")];
  expect(protocolState({ type: "ai", content: "", additional_kwargs: { tool_calls } })).toEqual({
    type: "ai",
    content: "",
    tool_calls: [{ id: "1", name: "add", args: { a: 1 }, type: "tool_call" }],
    invalid_tool_calls: [
      { id: "2", name: "add", error: "Malformed args.", type: "invalid_tool_call" },
      { id: "3", error: "Incomplete tool call.", type: "invalid_tool_call" },
    ],
  });
});

test("converts content blocks to the standard form, media in snake case", () => {
  const content = [
    "text",
    { type: "image", mimeType: "image/png", data: "AA" },
    { type: "image_url", image_url: { url: "https://a.example/b.png" } },
    { type: "thing", x: 1 },
  ];
  expect(protocolState({ type: "human", content })).toEqual({
    type: "human",
    content: [
      { type: "text", text: "text" },
      { type: "image", mime_type: "image/png", data: "AA" },
      { type: "image", url: "https://a.example/b.png" },
      { type: "non_standard", value: { type: "thing", x: 1 } },
    ],
  });
});
