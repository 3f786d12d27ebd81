import { expect, test } from "vitest";

import { besidesMessages, findMessages, onlyText, textEntries, textFields } from "./find-messages.ts";

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

test("lists the fields of an object with texts to read, so that each is rendered by itself", () => {
  const answer = "# Answer\n\n**bold**";
  expect(textFields({ answer, sources: [1] })).toEqual([
    ["answer", answer],
    ["sources", [1]],
  ]);
  expect(textFields({ answer: "**Yes**", n: 1 })).toHaveLength(2);
  expect(textFields({ result: { answer: "Two pairs are left." } })).toHaveLength(1);
  expect(textFields({ city: "Oslo", id: "01a2 b3", n: 3 })).toBeNull();
  expect(textFields([answer])).toBeNull();
});

test("lists a retriever's documents each by itself", () => {
  const documents = [{ page_content: "Red runner, size 43", metadata: { shop: "Mitte" } }];
  expect(textEntries(documents)).toEqual([Object.entries(documents[0]!)]);
  expect(textFields({ documents })).toEqual([["documents", documents]]);
  expect(textEntries([{ n: 1 }])).toBeNull();
  expect(textEntries([])).toBeNull();
});

test("finds what a state has besides its conversation", () => {
  expect(besidesMessages({ messages: [user], plan: ["look"], remaining: null, files: {} })).toEqual([
    ["plan", ["look"]],
  ]);
  expect(besidesMessages({ messages: [user] })).toBeNull();
  expect(besidesMessages({ input: [user], n: 1 })).toBeNull();
});
