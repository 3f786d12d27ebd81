import { expect, test, vi } from "vitest";

import { ScrapedFigures } from "./scraped-figures.ts";

const warnings: unknown[] = [];
const log = { warn: (fields: unknown, message: string) => void warnings.push([fields, message]) };

test("scrapes share a read, and its figures for a while", async () => {
  let now = 0;
  let reads = 0;
  const read = async () => ++reads;
  const figures = new ScrapedFigures({ name: "tests", read, log, keepMs: 5000, now: () => now });
  expect(await Promise.all([figures.get(), figures.get()])).toEqual([1, 1]);
  now = 4999;
  expect(await figures.get()).toBe(1);
  now = 5001;
  expect(await figures.get()).toBe(2);
});

test("a store that does not answer delays a scrape for less than a second; the last figures hold for a minute", async () => {
  vi.useFakeTimers();
  let now = 0;
  let answer: () => Promise<number> = async () => 7;
  const figures = new ScrapedFigures({ name: "tests", read: () => answer(), log, now: () => now });
  expect(await figures.get()).toBe(7);
  answer = () => new Promise(() => {});
  const scrape = async () => {
    const found = figures.get();
    await vi.advanceTimersByTimeAsync(999);
    return found;
  };
  now = 30_000;
  expect(await scrape()).toBe(7);
  now = 61_000;
  expect(await scrape()).toBeUndefined();
  vi.useRealTimers();
});

test("figures that may not be stale are left out while the store does not answer", async () => {
  vi.useFakeTimers();
  let now = 0;
  let answer: () => Promise<number> = async () => 7;
  const figures = new ScrapedFigures({ name: "x", read: () => answer(), log, keepMs: 0, staleMs: 0, now: () => now });
  expect(await figures.get()).toBe(7);
  answer = () => new Promise(() => {});
  now = 1;
  const found = figures.get();
  await vi.advanceTimersByTimeAsync(999);
  expect(await found).toBeUndefined();
  vi.useRealTimers();
});

test("figures that cannot be read are left out, and logged", async () => {
  const figures = new ScrapedFigures({ name: "the queue", read: () => Promise.reject(new Error("away")), log });
  expect(await figures.get()).toBeUndefined();
  expect(warnings.at(-1)).toEqual([{ err: expect.any(Error) }, "could not measure the queue"]);
});
