/** Messages against the limits that the channels document, with the longest and most hostile texts. */
import { expect, test } from "vitest";

import { composeBody, composeMail, type MessageSubject } from "./compose-message.ts";

const subject = (event: MessageSubject["message"]["event"]): MessageSubject => ({
  rule: {
    rule_id: "018f0000-0000-7000-8000-000000000001",
    tenant_id: "018f0000-0000-7000-8000-000000000002",
    project_id: null,
    name: "<!channel> \r\nBcc: x@y.example ".repeat(6),
    definition: {
      description: "",
      type: "threshold",
      attribute: "feedback_score",
      aggregation: "avg",
      operator: "lt",
      threshold: 0.5,
      threshold_multiplier: null,
      threshold_window_minutes: null,
      window_minutes: 5,
      interval_minutes: 1,
      delay_minutes: 0,
      filter: "x".repeat(32_768),
      denominator_filter: null,
      feedback_key: "k".repeat(500),
      group_by: { attribute: "metadata", path: "user" },
      for_evaluations: 1,
      min_runs: 0,
      resolve_threshold: null,
      no_data: "resolve",
    },
  },
  message: {
    event,
    tenant_id: "018f0000-0000-7000-8000-000000000002",
    rule_id: "018f0000-0000-7000-8000-000000000001",
    incident_id: "018f0000-0000-7000-8000-000000000003",
    group_name: "<https://evil.example|x> [x](https://evil.example)".repeat(20),
    severity: "critical",
    began_at: "2026-11-28T10:00:00.000000Z",
    fired_at: "2026-11-28T10:05:00.000000Z",
    resolved_at: event === "resolved" ? "2026-11-28T11:00:00.000000Z" : null,
    value: 0.25,
    worst: 0.1,
    last_value: 0.75,
    threshold: 0.5,
    reason: event === "resolved" ? "recovered" : null,
    period: null,
    level: null,
  },
  session_name: "p".repeat(2000),
  link: "https://heddle.example/alerts/018f0000-0000-7000-8000-000000000001",
});

interface Text {
  type: string;
  text: string;
}

test.each(["firing", "resolved", "test"] as const)("Slack's limits of blocks hold for %s", (event) => {
  const { text, blocks } = composeBody(subject(event), "slack", "") as {
    text: string;
    blocks: { type: string; text?: Text; fields?: Text[]; elements?: { text: Text; url: string }[] }[];
  };
  expect(text.length).toBeLessThanOrEqual(4000);
  expect(blocks.map(({ type }) => type)).toEqual(["header", "section", "section", "actions"]);
  expect(blocks[0]!.text).toMatchObject({ type: "plain_text" });
  expect(blocks[0]!.text!.text.length).toBeLessThanOrEqual(150);
  expect(blocks[1]!.text!.text.length).toBeLessThanOrEqual(3000);
  expect(blocks[2]!.fields!.length).toBeLessThanOrEqual(10);
  expect(blocks[2]!.fields!.every((field) => field.text.length <= 2000)).toBe(true);
  expect(blocks[3]!.elements![0]!.text.text.length).toBeLessThanOrEqual(75);
  // a name is no mention and no link
  expect(JSON.stringify([text, blocks.slice(1)])).not.toMatch(/<[!@#h]/);
});

test("Teams takes a card of at most 28 KB without links of a caller", () => {
  const body = JSON.stringify(composeBody(subject("firing"), "teams", ""));
  expect(Buffer.byteLength(body)).toBeLessThan(28 * 1024);
  expect(body).not.toContain("](");
});

test("PagerDuty's event has the fields of Events API v2, a resolution only those that identify it", () => {
  const event = composeBody(subject("firing"), "pagerduty", "R0") as Record<string, Record<string, unknown>>;
  const fields = ["client", "client_url", "dedup_key", "event_action", "links", "payload", "routing_key"];
  expect(Object.keys(event).toSorted()).toEqual(fields);
  const { payload } = event;
  const known = ["class", "component", "custom_details", "group", "severity", "source", "summary", "timestamp"];
  expect(Object.keys(payload!).toSorted()).toEqual(known);
  expect(String(payload!["summary"]).length).toBeLessThanOrEqual(1024);
  expect(String(event["dedup_key"]).length).toBeLessThanOrEqual(255);
  expect(composeBody(subject("resolved"), "pagerduty", "R0")).toEqual({
    routing_key: "R0",
    event_action: "resolve",
    dedup_key: event["dedup_key"],
  });
});

test("the subject of a mail is one line", () => {
  expect(composeMail(subject("firing")).subject).not.toMatch(/[\r\n]/);
});
