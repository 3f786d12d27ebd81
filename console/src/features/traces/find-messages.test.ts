import { expect, test } from "vitest";

import { findMessages, onlyText, textFields } from "./find-messages.ts";

const contents = (value: unknown) => findMessages(value)?.map(({ role, content }) => [role, content]);
const user = { role: "user", content: "hi" };

test("finds conversations where frameworks put them", () => {
  for (const value of [
    { messages: [user] },
    { messages: [[user]] },
    [user],
    { input: [user] },
    { input: { messages: [user] }, config: {} },
    user,
    { choices: [{ message: user }] },
  ]) {
    expect(contents(value)).toEqual([["user", "hi"]]);
  }
});

test("reads a model's generations as its answer", () => {
  expect(contents({ generations: [[{ text: "a", message: { type: "ai", content: "a" } }]] })).toEqual([
    ["assistant", "a"],
  ]);
  expect(contents({ generations: [{ text: "b" }] })).toEqual([["assistant", "b"]]);
  expect(contents({ output: { type: "ai", content: "c" } })).toEqual([["assistant", "c"]]);
});

test("finds no messages in other values", () => {
  for (const value of [null, "hi", 3, {}, { n: 1 }, { messages: "hi" }, { generations: [] }, [1, 2]]) {
    expect(findMessages(value)).toBeNull();
  }
});

test("shows a single text as text", () => {
  expect(onlyText({ input: "a" })).toBe("a");
  expect(onlyText({ a: "x", b: "y" })).toBeNull();
  expect(onlyText({ a: 1 })).toBeNull();
});

test("lists the fields of an object with long texts, so that each is rendered by itself", () => {
  const answer = "# Answer\n\n**bold**";
  expect(textFields({ answer, sources: [1] })).toEqual([
    ["answer", answer],
    ["sources", [1]],
  ]);
  expect(textFields({ city: "Oslo", n: 3 })).toBeNull();
  expect(textFields([answer])).toBeNull();
});
