import { expect, test } from "vitest";

import type { AlertDefinition } from "./definition.ts";
import { evaluateTicks, type Group } from "./evaluate-ticks.ts";

const DEFINITION: AlertDefinition = {
  description: "",
  type: "threshold",
  attribute: "latency",
  aggregation: "p95",
  operator: "gt",
  threshold: 10,
  threshold_multiplier: null,
  threshold_window_minutes: null,
  window_minutes: 5,
  interval_minutes: 1,
  delay_minutes: 0,
  filter: null,
  denominator_filter: null,
  feedback_key: null,
  group_by: null,
  for_evaluations: 2,
  min_runs: 0,
  resolve_threshold: 5,
  no_data: "resolve",
};

/** Evaluates values of consecutive ticks; null is a tick without runs. */
function evaluate(values: (number | null)[], fields: Partial<AlertDefinition> = {}) {
  const ticks = { first: 0, count: values.length, step: 60_000 };
  const seen = values.map((value) => new Map(value === null ? [] : [["", { runs: 1, value, baseline: null }]]));
  const { groups, incidents } = evaluateTicks({ ...DEFINITION, ...fields }, "rule/1", new Map(), ticks, seen);
  const minute = (at: string | null) => at && Date.parse(at) / 60_000;
  const shown = incidents.map(({ began_at, fired_at, resolved_at, value, worst, reason }) => {
    return { times: [began_at, fired_at, resolved_at].map(minute), values: [value, worst], reason };
  });
  return { state: groups.get("")?.status ?? "ok", shown, ids: incidents.map(({ incident_id: id }) => id) };
}

test("fires after enough breaches in a row, holds between the thresholds, and resolves below both", () => {
  expect(evaluate([11, 9, 11]).state).toBe("pending");
  expect(evaluate([11, 12, 20, 7, 11, 5, 11])).toMatchObject({
    state: "pending",
    shown: [{ times: [0, 1, 5], values: [12, 20], reason: "recovered" }],
  });
});

test("a tick without runs resolves, or keeps the state", () => {
  expect(evaluate([11, 11, null])).toMatchObject({ state: "ok", shown: [{ reason: "no_data" }] });
  expect(evaluate([11, 11, null], { no_data: "keep" })).toMatchObject({ state: "firing", shown: [{ reason: null }] });
});

test("ticks evaluated one by one or together have the same incidents", () => {
  const values = [11, 11, 4, 11, 11, null];
  let before = new Map<string, Group>();
  const together = evaluate(values);
  const ids: string[] = [];
  values.forEach((value, index) => {
    const ticks = { first: index * 60_000, count: 1, step: 60_000 };
    const seen = [new Map(value === null ? [] : [["", { runs: 1, value, baseline: null }]])];
    const { groups, incidents } = evaluateTicks(DEFINITION, "rule/1", before, ticks, seen);
    ids.push(
      ...incidents.filter(({ fired_at }) => Date.parse(fired_at) === ticks.first).map(({ incident_id }) => incident_id),
    );
    before = groups;
  });
  expect(ids).toEqual(together.ids);
  expect(new Set(ids).size).toBe(2);
});
