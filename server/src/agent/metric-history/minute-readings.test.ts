import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { binnedPercentile, binOf } from "../../base/duration-bins.ts";
import { MinuteReadings } from "./minute-readings.ts";

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 9, 5, 12), toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());
const nextMinute = () => vi.setSystemTime(Date.now() + 60_000);

test("sends a minute whole until it is over and confirmed", () => {
  const readings = new MinuteReadings();
  readings.add({ kind: "cron", status: "created" }, 2);
  readings.unsent().confirm();
  expect(readings.unsent().readings).toEqual([]);
  readings.add({ kind: "cron", status: "created" }, 1);
  nextMinute();
  readings.peak({ kind: "queue" }, 4, 9);
  readings.peak({ kind: "queue" }, 2, 12);
  readings.peak({ kind: "queue" }, 0, 0);
  const sent = readings.unsent();
  expect(sent.readings.map(({ kind, count, seconds }) => [kind, count, seconds])).toEqual([
    ["cron", 3, 0],
    ["queue", 4, 12],
  ]);
  // not confirmed: the answer was lost
  expect(readings.unsent().readings).toEqual(sent.readings);
  // what is added while a request is under way is sent again
  readings.peak({ kind: "queue" }, 7, 1);
  sent.confirm();
  expect(readings.unsent().readings.map(({ count }) => count)).toEqual([7]);
});

test("keeps three hours, and a thousand readings of a minute", () => {
  const readings = new MinuteReadings();
  for (let i = 0; i < 1200; i++) readings.event({ kind: "run", assistant: `a${i}`, status: "success" }, 1);
  const kept = readings.unsent().readings;
  expect(kept).toHaveLength(1001);
  expect(kept.find(({ assistant }) => assistant === "(other)")?.count).toBe(200);
  for (let i = 0; i < 300; i++) {
    nextMinute();
    readings.add({ kind: "webhook", status: "delivered" }, 1);
  }
  expect(readings.unsent().readings).toHaveLength(180);
});

test("percentiles of bins are at most 6 % off", () => {
  const bins: Record<string, number> = {};
  for (let i = 1; i <= 1000; i++) bins[binOf(i / 10)] = (bins[binOf(i / 10)] ?? 0) + 1;
  for (const level of [0.5, 0.95, 0.99]) {
    expect(Math.abs(binnedPercentile(bins, level)! / (level * 100) - 1)).toBeLessThan(0.06);
  }
  expect([binnedPercentile({}, 0.5), binnedPercentile({ [binOf(0)]: 3 }, 0.5)]).toEqual([null, 0]);
});
