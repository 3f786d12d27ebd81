import { expect, test } from "vitest";

import { deferred } from "../deferred.ts";
import { QueryLimiter } from "./query-limiter.ts";

const REJECTED = { status: 503, headers: { "Retry-After": "5" } };

test("runs queries up to the limit, queues more in order, and rejects those beyond the queue", async () => {
  const limiter = new QueryLimiter({ seconds: 1, atOnce: 2, waiting: 2 });
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => deferred<number>());
  const queries = ends.map(({ promise }, n) =>
    limiter.run(() => {
      begun.push(n);
      return promise;
    }),
  );
  await expect(queries[4]).rejects.toMatchObject(REJECTED);
  expect(begun).toEqual([0, 1]);
  ends[1]!.resolve(1);
  expect(await queries[1]).toBe(1);
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  // a failed query frees its slot too
  ends[0]!.reject(new Error("broke"));
  await expect(queries[0]).rejects.toThrow("broke");
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  for (const { resolve } of ends) resolve(0);
  await Promise.all([queries[2], queries[3]]);
  expect(await limiter.run(() => Promise.resolve("free again"))).toBe("free again");
});

test("rejects a query that has waited too long, without starting it", async () => {
  const limiter = new QueryLimiter({ seconds: 1, atOnce: 1, waitMs: 20 });
  const end = deferred<void>();
  const first = limiter.run(() => end.promise);
  let begun = false;
  await expect(
    limiter.run(() => {
      begun = true;
      return Promise.resolve();
    }),
  ).rejects.toMatchObject(REJECTED);
  end.resolve();
  await first;
  expect(begun).toBe(false);
});
