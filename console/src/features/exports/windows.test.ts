import { expect, test } from "vitest";

import { describeWindow, nextWindows } from "./windows.ts";

const schedule = { start_time: "2026-11-01T00:00:00Z", end_time: null, interval_hours: 6 };

test("lists the next windows of a schedule", () => {
  expect(nextWindows(schedule, Date.parse("2026-11-01T13:00:00Z"), 2)).toEqual([
    { start: "2026-11-01T12:00:00.000Z", end: "2026-11-01T18:00:00.000Z" },
    { start: "2026-11-01T18:00:00.000Z", end: "2026-11-02T00:00:00.000Z" },
  ]);
  // the first window of a schedule that starts later is its next one
  expect(nextWindows(schedule, Date.parse("2026-10-01T00:00:00Z"), 1)[0]!.start).toBe("2026-11-01T00:00:00.000Z");
  expect(nextWindows({ ...schedule, interval_hours: null }, 0, 3)).toEqual([]);
});

test("describes a window in UTC", () => {
  expect(describeWindow({ ...schedule, end_time: "2026-11-02T00:00:00Z", interval_hours: null })).toBe(
    "1 Nov 2026, 00:00 – 2 Nov 2026, 00:00 UTC",
  );
  expect(describeWindow(schedule)).toBe("from 1 Nov 2026, 00:00 UTC on, every 6 h");
});
