import { expect, test } from "vitest";

import { asMessages } from "../../ui/messages/message.ts";
import { countShared } from "./first-difference.ts";

const talk = (...texts: string[]) =>
  asMessages(texts.map((content, at) => ({ type: at % 2 ? "ai" : "human", id: crypto.randomUUID(), content }))) ?? [];

test("two conversations agree up to the first message that differs, whatever their ids", () => {
  expect(countShared(talk("a", "b", "c"), talk("a", "b", "d"))).toBe(2);
  expect(countShared(talk("a"), talk("a", "b"))).toBe(1);
  expect(countShared(talk("a"), [])).toBe(0);
  const call = (city: string) =>
    asMessages([
      { type: "ai", content: "", tool_calls: [{ id: crypto.randomUUID(), name: "weather", args: { city } }] },
    ])!;
  expect(countShared(call("Rome"), call("Rome"))).toBe(1);
  expect(countShared(call("Rome"), call("Oslo"))).toBe(0);
});
