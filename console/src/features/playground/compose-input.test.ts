import { expect, test } from "vitest";

import { newId } from "../../ui/new-id.ts";
import { hasFields, humanMessage, findMessagesKey } from "./compose-input.ts";

test("the conversation's key is the marked one, otherwise the usual name", () => {
  expect(findMessagesKey({ properties: { chat: { langgraph_type: "messages" }, x: {} } })).toBe("chat");
  expect(findMessagesKey({ properties: { messages: {} } })).toBe("messages");
  expect(findMessagesKey({ properties: { steps: {} } })).toBeNull();
  expect(findMessagesKey(null)).toBeNull();
});

test("a graph with only messages needs no form", () => {
  expect(hasFields({ properties: { messages: {} } }, "messages")).toBe(false);
  expect(hasFields({ properties: { messages: {}, topic: {} } }, "messages")).toBe(true);
});

test("places pictures beside the text", () => {
  expect(humanMessage("hi", [], "1")).toEqual({ id: "1", type: "human", content: "hi" });
  expect(humanMessage("hi", ["data:x"], "1").content).toEqual([
    { type: "text", text: "hi" },
    { type: "image_url", image_url: { url: "data:x" } },
  ]);
});

test("ids are UUIDs of version 4", () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
