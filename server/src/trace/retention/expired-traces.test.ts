import { expect, test } from "vitest";

import { retentionCutoffs } from "./expired-traces.ts";

const DAY = 86_400_000;
const now = Date.UTC(2026, 10, 21);
const daysBefore = (cutoff: string | undefined) => cutoff && (now - Date.parse(`${cutoff}Z`)) / DAY;

/** Returns the retention in days: of the longer tier, the shorter one, and of traces without a tier. */
function kept(project: { tier?: "longlived" | "shortlived"; days?: number }, longlivedDays: number) {
  const settings = { traceTier: "longlived" as const, longlivedDays, shortlivedDays: 14 };
  const cutoffs = retentionCutoffs(
    { trace_tier: project.tier ?? null, retention_days: project.days ?? null },
    settings,
    now,
  );
  return [cutoffs.longlived, cutoffs.shortlived, cutoffs.project].map(daysBefore);
}

test("a project keeps its traces for its tier's time or for its own number of days", () => {
  expect(kept({}, 0)).toEqual([undefined, 14, undefined]);
  expect(kept({ tier: "shortlived" }, 400)).toEqual([400, 14, 14]);
  expect(kept({ days: 30 }, 400)).toEqual([400, 14, 30]);
});

test("a trace of the longer tier is kept at least as long as others of its project", () => {
  expect(kept({ days: 1000 }, 400)).toEqual([1000, 14, 1000]);
  expect(kept({ tier: "shortlived", days: 1000 }, 400)[0]).toBe(1000);
  expect(kept({ days: 1000 }, 0)[0]).toBe(undefined);
});
