import { expect, test } from "vitest";

import { offeredAnswers, usualAnswers } from "./offered-answers.ts";

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

test("a payload that lists no answers can be answered by a boolean and by an object", () => {
  expect(usualAnswers({ question: "Refund?", amount: 20 })).toEqual([
    { label: "Approve (true)", value: true, isDraft: false },
    { label: "Reject (false)", value: false, isDraft: false },
    { label: 'Approve ({"approved":true})', value: { approved: true }, isDraft: false },
    { label: 'Reject ({"approved":false})', value: { approved: false }, isDraft: false },
  ]);
  expect(usualAnswers("Refund?")).toHaveLength(4);
});

test("a payload that names the key of its answer is answered in that key", () => {
  expect(usualAnswers({ question: "Send?", confirmed: null }).map(({ value }) => value)).toEqual([
    { confirmed: true },
    { confirmed: false },
  ]);
  // a text is no decision to be made
  expect(usualAnswers({ approve: "the refund" })).toHaveLength(4);
});
