import { expect, test, vi } from "vitest";

import { ScrapedMetrics } from "./scraped-metrics.ts";

const warnings: unknown[] = [];
const log = { warn: (fields: unknown, message: string) => void warnings.push([fields, message]) };

test("scrapes share a read, and its metrics for a while", async () => {
  let now = 0;
  let reads = 0;
  const read = async () => ++reads;
  const metrics = new ScrapedMetrics({ name: "tests", read, log, keepMs: 5000, now: () => now });
  expect(await Promise.all([metrics.get(), metrics.get()])).toEqual([1, 1]);
  now = 4999;
  expect(await metrics.get()).toBe(1);
  now = 5001;
  expect(await metrics.get()).toBe(2);
});

test("a store that does not answer delays a scrape for less than a second; the last metrics hold for a minute", async () => {
  vi.useFakeTimers();
  let now = 0;
  let answer: () => Promise<number> = async () => 7;
  const metrics = new ScrapedMetrics({ name: "tests", read: () => answer(), log, now: () => now });
  expect(await metrics.get()).toBe(7);
  answer = () => new Promise(() => {});
  const scrape = async () => {
    const found = metrics.get();
    await vi.advanceTimersByTimeAsync(999);
    return found;
  };
  now = 30_000;
  expect(await scrape()).toBe(7);
  now = 61_000;
  expect(await scrape()).toBeUndefined();
  vi.useRealTimers();
});

test("metrics that may not be stale are left out while the store does not answer", async () => {
  vi.useFakeTimers();
  let now = 0;
  let answer: () => Promise<number> = async () => 7;
  const metrics = new ScrapedMetrics({ name: "x", read: () => answer(), log, keepMs: 0, staleMs: 0, now: () => now });
  expect(await metrics.get()).toBe(7);
  answer = () => new Promise(() => {});
  now = 1;
  const found = metrics.get();
  await vi.advanceTimersByTimeAsync(999);
  expect(await found).toBeUndefined();
  vi.useRealTimers();
});

test("metrics that cannot be read are left out, and logged", async () => {
  const metrics = new ScrapedMetrics({ name: "the queue", read: () => Promise.reject(new Error("unreachable")), log });
  expect(await metrics.get()).toBeUndefined();
  expect(warnings.at(-1)).toEqual([{ err: expect.any(Error) }, "could not measure the queue"]);
});
