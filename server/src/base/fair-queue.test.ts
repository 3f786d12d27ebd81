import { expect, test } from "vitest";

import { deferred } from "./deferred.ts";
import { FairQueue, type FairQueueOptions } from "./fair-queue.ts";

const rejected = new Error("rejected");
const createQueue = (options: Partial<FairQueueOptions> = {}) =>
  new FairQueue({ capacity: 2, crowded: 1, waiting: 100, waitMs: 10_000, reject: () => rejected, ...options });

/** Starts work that records its start and ends on request. */
function worker(queue: FairQueue) {
  const begun: string[] = [];
  const start = (tenant: string, name: string, units = 1) => {
    const end = deferred<void>();
    const done = queue.run(
      () => {
        begun.push(name);
        return end.promise;
      },
      tenant,
      units,
    );
    done.catch(() => {});
    return { done, end: () => (end.resolve(), done) };
  };
  return { begun, start };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("tenants take turns, however much work one of them has queued", async () => {
  const { begun, start } = worker(createQueue({ capacity: 1 }));
  const flood = Array.from({ length: 20 }, (_, n) => start("a", `a${n}`));
  const others = [start("b", "b0"), start("b", "b1"), start("c", "c0")];
  await settle();
  expect(begun).toEqual(["a0"]);
  await flood[0]!.end();
  await others[0]!.end();
  await others[2]!.end();
  await settle();
  expect(begun.slice(0, 4)).toEqual(["a0", "b0", "c0", "a1"]);
  await flood[1]!.end();
  await settle();
  expect(begun.at(-1)).toBe("b1");
});

test("a single tenant gets all capacity, and a part of it while others are active", async () => {
  const { begun, start } = worker(createQueue());
  const [first, second] = [start("a", "a0"), start("a", "a1")];
  await settle();
  expect(begun).toEqual(["a0", "a1"]);
  const other = start("b", "b0");
  start("a", "a2");
  await first.end();
  await other.end();
  await settle();
  // slow work of the first tenant leaves room for the other's next
  expect(begun).toEqual(["a0", "a1", "b0"]);
  start("b", "b1");
  await settle();
  expect(begun.at(-1)).toBe("b1");
  await second.end();
  await settle();
  expect(begun.at(-1)).toBe("a2");
});

test("a full queue rejects the tenant with the most work in it", async () => {
  const { begun, start } = worker(createQueue({ capacity: 1, waiting: 3 }));
  const first = start("a", "a0");
  const flood = [start("a", "a1"), start("a", "a2"), start("a", "a3")];
  const other = start("b", "b0");
  await expect(flood[2]!.done).rejects.toBe(rejected);
  await expect(start("a", "a4").done).rejects.toBe(rejected);
  await first.end();
  await other.end();
  expect(begun).toEqual(["a0", "b0"]);
});

test("rejects work that has waited too long without starting it, and frees the capacity of failed work", async () => {
  const queue = createQueue({ capacity: 1, waitMs: 20 });
  const { begun, start } = worker(queue);
  const first = start("a", "a0");
  await expect(start("a", "a1").done).rejects.toBe(rejected);
  await first.end();
  await expect(queue.run(() => Promise.reject(new Error("broke")), "a")).rejects.toThrow("broke");
  expect([queue.held, begun]).toEqual([0, ["a0"]]);
  await expect(queue.run(() => Promise.resolve("larger than the capacity"), "a", 5)).resolves.toContain("larger");
});
