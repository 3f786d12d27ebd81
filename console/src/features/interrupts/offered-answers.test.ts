import { expect, test } from "vitest";

import { offeredAnswers } from "./offered-answers.ts";

test("lists a payload's answers, and marks those with gaps as drafts", () => {
  const edit = { action: "edit", draft: "…" };
  expect(offeredAnswers({ question: "Send?", answers: ["approve", edit, { label: "Later", value: 2 }] })).toEqual([
    { label: "approve", value: "approve", isDraft: false },
    { label: "edit", value: edit, isDraft: true },
    { label: "Later", value: 2, isDraft: false },
  ]);
  expect(offeredAnswers({ choices: [1, false] }).map(({ label }) => label)).toEqual(["1", "false"]);
});

test.each([["text"], [null], [{}], [{ answers: [] }], [{ options: [null] }], [{ choices: Array(13).fill("x") }]])(
  "%j offers nothing",
  (payload) => expect(offeredAnswers(payload)).toEqual([]),
);
