import { expect, test } from "vitest";

import { deferred } from "../deferred.ts";
import { AnswerMemory } from "./answer-memory.ts";

const bytes = (n: number, length = 1): Uint8Array => new Uint8Array(length).fill(n);

function engine() {
  const memory = new AnswerMemory();
  let asked = 0;
  const ask = async (statement: string, answer: () => Promise<Uint8Array> = async () => bytes(asked)) =>
    (await memory.read(statement, () => (asked++, answer())))[0];
  return { memory, ask, asked: () => asked };
}

test("answers are remembered by statement until a write, also one that fails", async () => {
  const { memory, ask } = engine();
  expect([await ask("a"), await ask("a"), await ask("b"), await ask("a")]).toEqual([1, 1, 2, 1]);
  await memory.write(async () => {});
  expect([await ask("a"), await ask("a")]).toEqual([3, 3]);
  await expect(memory.write(() => Promise.reject(new Error("full")))).rejects.toThrow("full");
  expect(await ask("a")).toBe(4);
});

test("what is read while something is written is not remembered, whichever ends first", async () => {
  const { memory, ask, asked } = engine();
  const [first, second] = [deferred<void>(), deferred<void>()];
  const writes = [memory.write(() => first.promise), memory.write(() => second.promise)];
  await ask("a");
  await ask("a");
  expect(asked()).toBe(2);
  first.resolve();
  await writes[0];
  await ask("a");
  await ask("a");
  expect(asked()).toBe(4);
  second.resolve();
  await writes[1];
  await ask("a");
  await ask("a");
  expect(asked()).toBe(5);
});

test("a read that began before a write is not remembered", async () => {
  const { memory, ask, asked } = engine();
  const answer = deferred<Uint8Array>();
  const reading = ask("a", () => answer.promise);
  await memory.write(async () => {});
  answer.resolve(bytes(7));
  expect(await reading).toBe(7);
  await ask("a");
  expect(asked()).toBe(2);
});

test("a failure, a large answer and a long statement are not remembered", async () => {
  const { ask, asked } = engine();
  await expect(ask("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await ask("a");
  for (const statement of ["b", "c".repeat(20_000)]) {
    await ask(statement, async () => bytes(1, statement === "b" ? 2 * 1024 * 1024 : 1));
    await ask(statement);
  }
  expect(asked()).toBe(6);
});
