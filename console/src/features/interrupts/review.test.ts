import { expect, test } from "vitest";

import { readReview, writeAnswer } from "./review.ts";

const request = { name: "send_email", args: { to: "a" }, description: "Sends it" };

test("reads a review request of the middleware in both spellings", () => {
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

test("writes one decision per action, and an edit in the form of either language", () => {
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

test("reads and answers the older form of agent inboxes", () => {
  const value = [{ action_request: { action: "f", args: { a: 1 } }, config: { allow_edit: false }, description: "d" }];
  const review = readReview(value)!;
  expect(review.actions).toEqual([
    { name: "f", args: { a: 1 }, description: "d", choices: ["approve", "reject", "respond"] },
  ]);
  expect(writeAnswer(review, [{ choice: "respond", message: "x" }])).toEqual([{ type: "response", args: "x" }]);
});

test("a plain interrupt value is no review", () => {
  for (const value of ["ok?", { question: "ok?" }, [], null, 3]) expect(readReview(value)).toBeNull();
});
