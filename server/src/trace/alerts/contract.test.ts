/** The contract's group alerts: every documented field is served, or rejected by its name. */
import { expect, test } from "vitest";

import { alertRule, createBody, patchBody } from "./schema.ts";

// alerts.AlertRuleBase, alerts.AlertRule, alerts.AlertActionBase and alerts.AlertAction of the contract
const RULE = {
  id: "018f0000-0000-7000-8000-000000000001",
  name: "Errors",
  description: "Of production",
  type: "change",
  attribute: "error_count",
  aggregation: "pct",
  operator: "gte",
  threshold: 5,
  threshold_multiplier: 1.5,
  threshold_window_minutes: 60,
  window_minutes: 60,
  filter: "eq(is_root, true)",
  denominator_filter: "eq(is_root, true)",
};
const ANSWERED = ["created_at", "session_id", "session_name", "updated_at"];
const ACTION = { id: RULE.id, alert_rule_id: RULE.id, target: "webhook", config: { url: "https://example.com/" } };

test("takes every field and value of the contract", () => {
  const bodies = [
    ...["threshold", "change"].map((type) => ({ type })),
    ...["gte", "lte", "gt", "lt"].map((operator) => ({ operator })),
    ...["avg", "sum", "pct"].map((aggregation) => ({ aggregation })),
    ...["latency", "error_count", "feedback_score", "run_latency", "run_count", "total_cost"].map((attribute) => {
      return { attribute };
    }),
  ];
  for (const fields of bodies) {
    const body = { rule: { ...RULE, ...fields }, actions: [ACTION] };
    expect(createBody.parse(body)).toEqual(body);
    expect(patchBody.parse(body)).toEqual(body);
  }
  const pagerduty = { target: "pagerduty", config: { routing_key: "R0" } };
  expect(createBody.parse({ rule: RULE, actions: [pagerduty] }).actions).toEqual([pagerduty]);
});

test("rejects what it does not build by name, and what the contract requires", () => {
  const refuse = (body: object) => createBody.safeParse(body).error?.issues.map(({ path }) => path.join("."));
  expect(refuse({ rule: RULE, actions: [{ target: "dynatrace", config: {} }] })).toEqual(["actions.0.config"]);
  for (const field of ["aggregation", "attribute", "name", "operator", "type", "window_minutes"]) {
    expect(refuse({ rule: { ...RULE, [field]: undefined }, actions: [] })).toEqual([`rule.${field}`]);
  }
  expect(refuse({ rule: RULE })).toEqual(["actions"]);
});

test("answers with every field of the contract", () => {
  const rule = Object.keys(alertRule.shape.rule.shape);
  expect([...Object.keys(RULE), ...ANSWERED].filter((field) => !rule.includes(field))).toEqual([]);
  const action = Object.keys(alertRule.shape.actions.element.shape);
  expect([...Object.keys(ACTION), "created_at", "updated_at"].filter((field) => !action.includes(field))).toEqual([]);
});
