import { AIMessage, HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { expect, test } from "vitest";

import { isUnchanged, shadowOf, UNTRACKABLE } from "./item-shadow.ts";

test("any change of a plain value's text is seen", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
      const shadow = shadowOf(value);
      if (shadow === UNTRACKABLE) return;
      expect(isUnchanged(structuredClone(value), shadow)).toBe(true);
      const isEqual = JSON.stringify(value) === JSON.stringify(other);
      expect(isEqual || !isUnchanged(other, shadow)).toBe(true);
    }),
  );
});

test.each<[string, (message: AIMessage) => void]>([
  ["content", (message) => void (message.content = "other")],
  ["a part of the content", (message) => void ((message.content as { text: string }[])[0]!.text = "other")],
  ["an id", (message) => void (message.id = "other")],
  ["an argument of a tool call", (message) => void (message.tool_calls![0]!.args["a"] = 2)],
  ["a new field", (message) => void ((message.additional_kwargs as { x?: number }).x = 1)],
  ["a removed field", (message) => void delete message.response_metadata["model"]],
  ["a hidden argument", (message) => void ((message.lc_kwargs as { id: string }).id = "other")],
  ["its class", (message) => void Object.setPrototypeOf(message, HumanMessage.prototype)],
])("a change of a message is seen: %s", (_name, change) => {
  const message = new AIMessage({
    id: "m",
    content: [{ type: "text", text: "hello" }],
    tool_calls: [{ id: "c", name: "t", args: { a: 1 } }],
    response_metadata: { model: "m" },
  });
  const shadow = shadowOf(message);
  expect(shadow).not.toBe(UNTRACKABLE);
  expect(isUnchanged(message, shadow as never)).toBe(true);
  change(message);
  expect(isUnchanged(message, shadow as never)).toBe(false);
});

test("values whose text may depend on more than their properties are not tracked", () => {
  class Own {
    #secret = 1;
    toJSON() {
      return this.#secret;
    }
  }
  class OwnMessage extends HumanMessage {
    override toJSON() {
      return { ...super.toJSON(), at: Date.now() } as never;
    }
  }
  const values = [
    new Own(),
    new OwnMessage("x"),
    new Map(),
    new Date(),
    {
      get x() {
        return 1;
      },
    },
    { toJSON: () => 1 },
    Array.from({ length: 2, 1: 1 }, (value) => value).concat(Array(1)),
  ];
  for (const value of values) expect(shadowOf(value)).toBe(UNTRACKABLE);
  expect(shadowOf({ nested: [new Own()] })).toBe(UNTRACKABLE);
});
