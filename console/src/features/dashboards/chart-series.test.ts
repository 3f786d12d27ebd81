import { expect, test } from "vitest";

import { differenceText, toCsv, toLines } from "./chart-series.ts";
import type { ChartData } from "./queries.ts";

const series = [{ id: "a", name: "Runs", metric: "run_count" }] as unknown as ChartData["series"];
const at = (hour: number) => `2026-10-05T0${hour}:00:00.000Z`;
const point = (hour: number, value: number | null, group: string | null = null) => ({
  series_id: "a",
  timestamp: at(hour),
  value,
  group,
});

test("points become lines by group, with gaps", () => {
  const { times, series: lines } = toLines({ series, data: [point(1, 2, "x"), point(2, 3, "x"), point(2, 1, "y")] });
  expect(times).toEqual([Date.parse(at(1)) / 1000, Date.parse(at(2)) / 1000]);
  expect(lines).toMatchObject([
    { label: "x", values: [2, 3], total: 5 },
    { label: "y", values: [null, 1], total: 1 },
  ]);
});

test("the difference to the previous period is said in words", () => {
  expect(differenceText("run_count", 150, 100)).toBe("50 % more than before (100)");
  expect(differenceText("run_count", 400, 100)).toBe("4.0 times as much as before (100)");
  expect(differenceText("error_rate", 0.05, 0.02)).toBe("3.0 points more than before (2.0%)");
  expect(differenceText("latency_p50", 1, 2)).toMatch(/^50 % less than before/);
  expect(differenceText("run_count", 3, null)).toBe("No data in the previous period");
});

test("CSV quotes, and no cell is a formula", () => {
  const csv = toCsv({ series, data: [point(1, 2, '=1+1,"x"'), point(2, null, '=1+1,"x"')] });
  expect(csv).toBe(`time,"'=1+1,""x"""\r\n${at(1)},2\r\n${at(2)},`);
});
