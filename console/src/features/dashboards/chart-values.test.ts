import { expect, test } from "vitest";

import { bodyOf, valuesOf } from "./chart-values.ts";
import type { ChartData } from "./queries.ts";

const series = (id: string, name: string, filter: string) => ({
  id,
  name,
  metric: "run_count",
  feedback_key: null,
  filters: { filter, tree_filter: 'eq(name, "step")' },
  denominator: { metric: "run_count", filters: { filter: 'eq(run_type, "llm")' } },
  group_by: null,
  workspace_id: null,
});
const CHART = {
  id: "c",
  title: "Both",
  description: "of two",
  chart_type: "line",
  metadata: null,
  common_filters: { filter: 'eq(name, "agent")', session: ["p1", "p2"], trace_filter: 'eq(status, "error")' },
  series: [series("a", "prod", 'has(tags, "prod")'), series("b", "dev", 'has(tags, "dev")')],
} as unknown as ChartData;

test("saving a chart with another title keeps the filters, projects and names that the form does not show", () => {
  const body = bodyOf({ ...valuesOf(CHART), title: "Other" }, CHART, "d");
  expect(body).toMatchObject({ title: "Other", common_filters: CHART.common_filters });
  expect(body.series).toMatchObject(
    CHART.series.map(({ id, name, filters, denominator }) => ({ id, name, filters, denominator })),
  );
});

test("a filter that was changed is that of all series, and another project that of the chart", () => {
  const body = bodyOf({ ...valuesOf(CHART), filter: "eq(error, null)", projectId: "p3" }, CHART, "d");
  expect(body.common_filters).toEqual({ filter: 'eq(name, "agent")', session: ["p3"] });
  expect(body.series.map(({ id, filters }) => [id, filters])).toEqual([
    ["a", { filter: "eq(error, null)" }],
    ["b", { filter: "eq(error, null)" }],
  ]);
  expect(bodyOf({ ...valuesOf(CHART), unit: "llm" }, CHART, "d").common_filters).toMatchObject({
    filter: 'eq(run_type, "llm")',
  });
});
