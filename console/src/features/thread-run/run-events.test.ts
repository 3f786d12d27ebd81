import { expect, test } from "vitest";

import { axisPlace, axisTicks, runAxis, runEvents, type RunSources } from "./run-events.ts";

const second = (n: number) => new Date(n * 1000).toISOString();
const SOURCES: RunSources = {
  run: { status: "success", created_at: second(10), updated_at: second(14) },
  spans: [{ id: "root", name: "agent", start: 11_000, end: 13_000, error: null, depth: 0 }],
  checkpoints: [{ id: "c1", at: second(12), step: 1, source: "loop", next: ["tools"] }],
  deliveries: [],
  feedback: [{ id: "f", key: "helpful", score: 1, created_at: second(5000) }],
  logs: [{ id: "7", timestamp: 11_500, level: "ERROR", message: "no" }],
};

test("orders what is known of a run by time and separates its wait from its execution", () => {
  const events = runEvents(SOURCES);
  expect(events.map(({ key, at, end }) => [key, at, end])).toEqual([
    ["queued", 10_000, 11_000],
    ["execution", 11_000, 14_000],
    ["span root", 11_000, 13_000],
    ["log 7", 11_500, undefined],
    ["checkpoint c1", 12_000, undefined],
    ["feedback f", 5_000_000, undefined],
  ]);
  expect(events.filter(({ isFailure }) => isFailure).map(({ key }) => key)).toEqual(["log 7"]);
});

test("keeps the run readable when feedback arrives long after it", () => {
  const axis = runAxis(runEvents(SOURCES), 0);
  expect(axis).toEqual({ from: 10_000, to: 14_000, later: 5_000_000 });
  expect(axisPlace(axis, 12_000)).toBeCloseTo(0.43);
  expect(axisPlace(axis, 5_000_000)).toBe(1);
  expect(axisTicks(axis)).toEqual([0, 1000, 2000, 3000, 4000]);
});

test("an active run ends now, and one that never started has no execution", () => {
  const run = { ...SOURCES.run, status: "pending" };
  const events = runEvents({ ...SOURCES, run, spans: [], checkpoints: [], feedback: [], logs: [] });
  expect(events).toMatchObject([{ key: "queued", end: null }]);
  expect(runAxis(events, 20_000)).toEqual({ from: 10_000, to: 20_000, later: null });
});
