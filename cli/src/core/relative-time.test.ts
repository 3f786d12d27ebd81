import { expect, test } from "vitest";

import { formatAge } from "./relative-time.ts";

test("formats ages, and dates of what is older than two weeks", () => {
  const now = Date.parse("2026-11-28T12:00:00Z");
  const ages = ["2026-11-28T11:59:55", "2026-11-28T11:10:00Z", "2026-11-28T01:00:00+00:00", "2026-11-20T12:00:00Z"];
  expect(ages.map((time) => formatAge(time, now))).toEqual(["5s ago", "50m ago", "11h ago", "8d ago"]);
  expect([formatAge("2026-01-02T00:00:00Z", now), formatAge(null, now)]).toEqual(["2026-01-02", "-"]);
});
