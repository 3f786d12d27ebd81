import { expect, test } from "vitest";

import { MemoryWindows } from "./memory-windows.ts";
import type { Bucket, Limit } from "./windows.ts";

const limit = (count: number, seconds: number, name = `${count}/${seconds}`): Limit => ({ name, count, seconds });
const bucket = (of: Limit, holder = "somebody"): Bucket => ({ limit: of, holder });

function windowsAt(start = 0, maxBuckets?: number) {
  const clock = { now: start };
  const windows = new MemoryWindows({ now: () => clock.now, ...(maxBuckets !== undefined && { maxBuckets }) });
  const take = (...buckets: Bucket[]) => windows.take(buckets);
  return { clock, windows, take };
}

test("allows requests up to the limit, rejects the next one, and reports the use", () => {
  const { take } = windowsAt();
  const three = bucket(limit(3, 10));
  expect([1, 2, 3].map(() => take(three).allowed)).toEqual([true, true, true]);
  expect(take(three)).toMatchObject({ allowed: false, uses: [{ used: 3, resetMs: 10_000 }] });
});

test("a window starts with the first request, ends to the millisecond, and starts empty again", () => {
  const { clock, take } = windowsAt(123_456);
  const single = bucket(limit(1, 10));
  expect(take(single).allowed).toBe(true);
  clock.now += 9999;
  expect(take(single)).toMatchObject({ allowed: false, uses: [{ used: 1, resetMs: 1 }] });
  clock.now += 1;
  expect(take(single)).toMatchObject({ allowed: true, uses: [{ used: 1, resetMs: 10_000 }] });
  expect(take(single).allowed).toBe(false);
});

test("a clock with fractions does not extend a window", () => {
  const { clock, take } = windowsAt(0.25);
  const single = bucket(limit(1, 10));
  expect(take(single).uses[0]!.resetMs).toBe(10_000);
  clock.now += 10_000;
  expect(take(single)).toMatchObject({ allowed: false, uses: [{ resetMs: 0.75 }] });
  clock.now += 0.75;
  expect(take(single).allowed).toBe(true);
});

test("holders and limits are counted separately", () => {
  const { take } = windowsAt();
  const single = limit(1, 10);
  expect(take(bucket(single, "a")).allowed).toBe(true);
  expect(take(bucket(single, "b")).allowed).toBe(true);
  expect(take(bucket(limit(1, 60), "a")).allowed).toBe(true);
  expect(take(bucket(single, "a")).allowed).toBe(false);
});

test("takes from several limits together or from none", () => {
  const { windows, take } = windowsAt();
  const [narrow, wide] = [bucket(limit(1, 10)), bucket(limit(5, 10))];
  expect(take(narrow, wide).allowed).toBe(true);
  expect(take(narrow, wide)).toMatchObject({ allowed: false, uses: [{ used: 1 }, { used: 1 }] });
  expect(windows.read([wide])[0]!.used).toBe(1);
});

test("returned use is available again until the window ends", () => {
  const { clock, windows, take } = windowsAt();
  const single = bucket(limit(1, 10));
  take(single);
  windows.giveBack(single);
  expect(take(single).allowed).toBe(true);
  clock.now += 10_000;
  windows.giveBack(single);
  expect(take(single).allowed).toBe(true);
  expect(take(single).allowed).toBe(false);
});

test("allows exactly one hundred of a thousand concurrent requests under a limit of one hundred", async () => {
  const { take } = windowsAt();
  const hundred = bucket(limit(100, 60));
  const all = await Promise.all(Array.from({ length: 1000 }, async () => take(hundred).allowed));
  expect(all.filter(Boolean)).toHaveLength(100);
});

test("drops expired windows", () => {
  const { clock, windows, take } = windowsAt();
  for (let n = 0; n < 1000; n++) take(bucket(limit(1, 10), `holder ${n}`), bucket(limit(1, 60), `holder ${n}`));
  expect(windows.size).toBe(2000);
  clock.now += 10_001;
  take(bucket(limit(9, 600)));
  expect(windows.size).toBe(1001);
  clock.now += 600_000;
  take(bucket(limit(9, 600)));
  expect(windows.size).toBe(1);
});

test("bounds a flood of holders, and evicts their own kind first", () => {
  const { windows, take } = windowsAt(0, 100);
  const [key, ip] = [limit(1, 60, "key"), limit(1, 60, "ip")];
  take(bucket(key, "good"));
  for (let n = 0; n < 10_000; n++) take(bucket(ip, `10.0.${n >> 8}.${n & 255}`));
  expect(windows.size).toBe(100);
  expect(windows.evicted).toBe(10_001 - 100);
  expect(take(bucket(key, "good")).allowed).toBe(false);
  expect(take(bucket(ip, "10.0.39.15")).allowed).toBe(false);
  expect(take(bucket(ip, "10.0.0.0")).allowed).toBe(true);
});

test("keeps the size correct as windows end and begin", () => {
  const { clock, windows, take } = windowsAt(0, 50);
  const [short, long] = [limit(2, 1, "short"), limit(2, 30, "long")];
  for (let n = 0; n < 20_000; n++) {
    clock.now += (n * 7919) % 50;
    take(bucket(short, `s${(n * 31) % 40}`), bucket(long, `l${(n * 17) % 40}`));
    expect(windows.size).toBeLessThanOrEqual(50);
  }
  clock.now += 100_000;
  take(bucket(short, "last"));
  expect(windows.size).toBe(1);
});
