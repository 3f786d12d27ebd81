import { expect, test } from "vitest";

import { newId } from "../../ui/new-id.ts";
import { attachedPart } from "./attachments.ts";
import { hasFields, humanMessage, findMessagesKey, otherParts } from "./compose-input.ts";

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

test("places pictures and files beside the text, and an edit of the text keeps them", () => {
  expect(humanMessage("hi", [], "1")).toEqual({ id: "1", type: "human", content: "hi" });
  const file = (name: string, type: string) => attachedPart({ name, type, url: `data:${type};base64,AA==` });
  const parts = [file("a.png", "image/png"), file("b.pdf", "application/pdf"), file("c.mp3", "audio/mpeg")];
  const { content } = humanMessage("hi", parts, "1");
  expect(content).toEqual([
    { type: "text", text: "hi" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    {
      type: "file",
      source_type: "base64",
      mime_type: "application/pdf",
      data: "AA==",
      metadata: { filename: "b.pdf" },
    },
    expect.objectContaining({ type: "audio", mime_type: "audio/mpeg" }),
  ]);
  expect(otherParts(content)).toEqual(parts);
  expect(otherParts("hi")).toEqual([]);
  const text = attachedPart({ name: "notes.txt", type: "text/plain", url: "data:,", text: "paid" });
  expect(text).toEqual({ type: "text", text: "notes.txt:\n\npaid" });
});

test("ids are UUIDs of version 4", () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
