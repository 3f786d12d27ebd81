import { expect, test } from "vitest";

import { diffWords, type TextPart } from "./word-diff.ts";

const brief = (parts: TextPart[]) =>
  parts.map(({ kind, text }) => (kind === "same" ? text : kind === "removed" ? `[-${text}-]` : `[+${text}+]`)).join("");
const side = (parts: TextPart[], left: "removed" | "added") =>
  parts
    .filter(({ kind }) => kind === "same" || kind === left)
    .map(({ text }) => text)
    .join("");

test("marks changed words and keeps the others", () => {
  expect(brief(diffWords("You are a helpful assistant.", "You are a terse assistant."))).toBe(
    "You are a [-helpful-][+terse+] assistant.",
  );
  expect(brief(diffWords("Answer {question}", "Answer {question} in {language}"))).toBe(
    "Answer {question}[+ in {language}+]",
  );
  expect(diffWords("same", "same")).toEqual([{ kind: "same", text: "same" }]);
  expect(diffWords("", "")).toEqual([]);
  expect(diffWords("", "new")).toEqual([{ kind: "added", text: "new" }]);
});

test("keeps a replaced phrase together", () => {
  expect(brief(diffWords("Say one two three.", "Say four five six."))).toBe("Say [-one two three-][+four five six+].");
});

test("compares scripts without spaces by characters", () => {
  expect(brief(diffWords("今日は晴れです", "今日は雨です"))).toBe("今日は[-晴れ-][+雨+]です");
});

test("both sides can be rebuilt from the parts, for random texts and for ones that differ too much", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const text = (length: number, vocabulary: number) =>
    Array.from({ length }, () => `w${random(vocabulary)}${random(6) === 0 ? "\n" : " "}`).join("");
  for (let round = 0; round < 200; round++) {
    const [before, after] = [text(random(30), 5), text(random(30), 5)];
    const parts = diffWords(before, after);
    expect([side(parts, "removed"), side(parts, "added")]).toEqual([before, after]);
  }
  const [before, after] = [text(3000, 1000), text(3000, 1000)];
  const parts = diffWords(`head\n${before}\ntail`, `head\n${after}\ntail`);
  expect(side(parts, "removed")).toBe(`head\n${before}\ntail`);
  expect(side(parts, "added")).toBe(`head\n${after}\ntail`);
  expect(parts[0]).toMatchObject({ kind: "same" });
});

test("finds a shortest edit", () => {
  // the example of Myers' article, with a character per token: its distance is 5
  const parts = diffWords("甲乙丙甲乙乙甲", "丙乙甲乙甲丙");
  expect(parts.reduce((sum, { kind, text }) => sum + (kind === "same" ? 0 : text.length), 0)).toBe(5);
});
