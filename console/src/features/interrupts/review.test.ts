import { expect, test } from "vitest";

import { readReview, writeAnswer } from "./review.ts";

const request = { name: "send_email", args: { to: "a" }, description: "Sends it" };

test("a request of the middleware is read in both of its spellings", () => {
  const snake = {
    action_requests: [request],
    review_configs: [{ action_name: "send_email", allowed_decisions: ["approve", "reject"] }],
  };
  const camel = {
    actionRequests: [request],
    reviewConfigs: [{ actionName: "send_email", allowedDecisions: ["approve", "reject"] }],
  };
  for (const value of [snake, camel]) {
    expect(readReview(value)).toEqual({
      form: "decisions",
      actions: [{ ...request, choices: ["approve", "reject"] }],
    });
  }
});

test("decisions answer each action in turn, and an edit is readable to both languages", () => {
  const review = readReview({ action_requests: [request, request, request] })!;
  const edited = { name: "send_email", args: { to: "b" } };
  expect(
    writeAnswer(review, [
      { choice: "approve" },
      { choice: "edit", args: { to: "b" } },
      { choice: "reject", message: "no" },
    ]),
  ).toEqual({
    decisions: [
      { type: "approve" },
      { type: "edit", edited_action: edited, editedAction: edited },
      { type: "reject", message: "no" },
    ],
  });
});

test("the older form of agent inboxes", () => {
  const value = [{ action_request: { action: "f", args: { a: 1 } }, config: { allow_edit: false }, description: "d" }];
  const review = readReview(value)!;
  expect(review.actions).toEqual([
    { name: "f", args: { a: 1 }, description: "d", choices: ["approve", "reject", "respond"] },
  ]);
  expect(writeAnswer(review, [{ choice: "respond", message: "x" }])).toEqual([{ type: "response", args: "x" }]);
});

test("a question of the graph's own is no review", () => {
  for (const value of ["ok?", { question: "ok?" }, [], null, 3]) expect(readReview(value)).toBeNull();
});
