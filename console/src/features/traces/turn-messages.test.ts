import { expect, test } from "vitest";

import { turnMessages } from "./turn-messages.ts";

const user = (content: string) => ({ role: "user", content });
const reply = (content: string) => ({ role: "assistant", content });
const contents = (inputs: unknown, outputs: unknown) =>
  turnMessages(inputs, outputs)?.map(({ content }) => content) ?? null;

test("a turn is the last question and its reply, whether outputs hold the reply or the whole conversation", () => {
  const turn = ["Two?", "Yes"];
  expect(contents({ messages: [user("Two?")] }, { messages: [reply("Yes")] })).toEqual(turn);
  expect(contents({ messages: [user("One?"), reply("No"), user("Two?")] }, { messages: [reply("Yes")] })).toEqual(turn);
  const whole = { messages: [user("One?"), reply("No"), user("Two?"), reply("Yes")] };
  expect(contents({ messages: [user("Two?")] }, whole)).toEqual(turn);
});

test("a turn without a reply is its question, and one without messages has none", () => {
  expect(contents({ messages: [user("Two?")] }, null)).toEqual(["Two?"]);
  expect(contents({ n: 2 }, { double: 4 })).toBeNull();
});
