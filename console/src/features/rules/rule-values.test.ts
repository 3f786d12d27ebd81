import { expect, test } from "vitest";

import type { Rule } from "./queries.ts";
import { bodyOf, hasAction, valuesOf } from "./rule-values.ts";

test("saving the form of a rule keeps the feedback that it gives, whether its score is a number, true or false", () => {
  for (const [score, saved] of [
    [0.5, 0.5],
    [true, 1],
    [false, 0],
    [null, null],
  ] as const) {
    const feedback = { key: "flag", score, value: "seen", comment: "by rule" };
    const rule = { display_name: "rule", add_feedback: [feedback], add_tags: [] } as unknown as Rule;
    expect(bodyOf(valuesOf(rule, {}), rule, 0).add_feedback).toEqual([{ ...feedback, score: saved }]);
  }
});

test("emptying the first webhook, alert or feedback removes it and keeps the others", () => {
  const webhooks = ["https://a.example", "https://b.example"].map((url) => ({ url, headers: {} }));
  const alerts = ["a", "b"].map((routing_key) => ({ routing_key, severity: "info" }));
  const feedback = ["a", "b"].map((key) => ({ key, score: 1 }));
  const rule = { display_name: "rule", add_feedback: feedback, add_tags: [], webhooks, alerts } as unknown as Rule;
  const values = { ...valuesOf(rule, {}), webhookUrl: " ", pagerdutyKey: "", feedbackKey: "" };
  const kept = { webhooks: webhooks.slice(1), alerts: alerts.slice(1), add_feedback: feedback.slice(1) };
  expect(bodyOf(values, rule, 0)).toMatchObject(kept);
  expect(hasAction(values, rule)).toBe(true);
  expect(bodyOf(values, undefined, 0)).toMatchObject({ webhooks: [], alerts: [], add_feedback: [] });
  expect(hasAction(values, undefined)).toBe(false);
});
