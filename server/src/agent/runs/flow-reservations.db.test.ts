/** Runs with several keys of flow control beside runs with one of them (functions/flow.sql: reserve_keys). */
import { beforeEach, expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { queueSection } from "../project/queue-config.ts";
import { cancelRunRow, claimRuns, putQueueRules } from "./sql.ts";

const { sql, me, newThread, create, finish, status } = await queueRows();

interface Keys {
  a?: string;
  b?: string;
  kind?: string;
}

const threads = new Map<string, string>();
const declare = (rules: object = {}) =>
  putQueueRules(sql, {
    echo: queueSection.parse({
      concurrency: [
        { key: "metadata.a", limit: 1 },
        { key: "metadata.b", limit: 1 },
      ],
      fair: null,
      ...rules,
    }),
  });
async function start(keys: Keys, config: object = {}): Promise<string> {
  const thread = await newThread();
  const { runId } = await create(thread, { metadata: JSON.stringify(keys), kwargs: JSON.stringify({ config }) });
  threads.set(runId, thread);
  return runId;
}
const claim = async (limit = 32) => (await claimRuns(sql, me, limit)).map(({ run_id: id }) => id);
const cancel = (runId: string) =>
  cancelRunRow(sql, { runId, threadId: threads.get(runId)!, action: "interrupt", reason: null });
const held = async () =>
  (
    await sql<{ key: string }[]>`
      select substr(key, 13) as key from run_slots s where not exists (select 1 from runs r where r.run_id = s.run_id)
      order by key`
  ).map(({ key }) => key);

beforeEach(async () => {
  await sql`truncate runs, threads, run_queue_events, run_lanes, run_ready, run_slots, run_rates cascade`;
  await sql`update run_queue_clock set vtimes = default`;
  await declare();
});

/** Lets the running runs of `a` and `b` end by turns, each with another one waiting. @returns rounds until `run` began */
async function roundsBefore(run: string, from: [string, string], rounds = 12): Promise<number> {
  const running: Record<"a" | "b", string | undefined> = { a: from[0], b: from[1] };
  for (let round = 1; round <= rounds; round++) {
    for (const key of ["a", "b"] as const) {
      const next = await start({ [key]: "1" });
      if (running[key]) await finish(running[key]);
      const claimed = await claim();
      if (claimed.includes(run)) return round;
      running[key] = claimed.includes(next) ? next : claimed[0];
    }
  }
  return Infinity;
}

test("a run with two keys begins although runs with one of them fill them by turns", async () => {
  const both = [await start({ a: "1" }), await start({ b: "1" })] as [string, string];
  expect(await claim()).toHaveLength(2);
  const run = await start({ a: "1", b: "1" });
  expect(await claim()).toEqual([]);
  expect(await roundsBefore(run, both)).toBeLessThanOrEqual(5);
  expect(await held()).toEqual([]);
  const slots = await sql`select key from run_slots where run_id = ${run}`;
  expect(slots).toHaveLength(2);
});

/** Starts two runs of one key each, and a run with both that has been passed over until it holds `a` and waits for `b`. */
async function holding(keys: Keys = {}, config: object = {}): Promise<{ run: string; b: string }> {
  let [a, b] = [await start({ a: "1" }), await start({ b: "1" })];
  expect(await claim()).toHaveLength(2);
  const run = await start({ a: "1", b: "1", ...keys }, config);
  expect(await claim()).toEqual([]);
  for (let round = 0; round < 6; round++) {
    const next = await start({ a: "1" });
    await finish(a);
    const claimed = await claim();
    if (claimed.length === 0) {
      await cancel(next);
      if ((await held()).join() === "metadata.a=1") return { run, b };
      throw new Error("another key is held");
    }
    expect(claimed).toEqual([next]);
    a = next;
    const other = await start({ b: "1" });
    await finish(b);
    expect(await claim()).toEqual([other]);
    b = other;
  }
  throw new Error("nothing was held");
}

test("a held key counts towards its limit, and becomes the run's own slot", async () => {
  const { run, b } = await holding();
  const after = await start({ a: "1" });
  expect(await claim()).toEqual([]);
  await finish(b);
  expect(await claim()).toEqual([run]);
  expect(await held()).toEqual([]);
  await finish(run);
  expect(await claim()).toEqual([after]);
});

test("a key is held no longer when its run is cancelled, expires or is deleted with its thread", async () => {
  const ends = {
    cancelled: cancel,
    expired: async () => void (await sql`update run_queue_events set due_at = now() where expires is not null`),
    deleted: (run: string) => sql`delete from threads where thread_id = ${threads.get(run)!}`,
  };
  for (const [way, end] of Object.entries(ends)) {
    const { run, b } = await holding({}, { heddle: { queue: { expires_after: 3600 } } });
    const waiting = await start({ a: "1" });
    expect(await claim()).toEqual([]);
    await end(run);
    // the claim that drops the hold, or the one after it
    expect([way, ...(await claim()), ...(await claim())]).toEqual([way, waiting]);
    expect([way, ...(await held())]).toEqual([way]);
    for (const id of [b, waiting]) await finish(id);
    expect(await claim()).toEqual([]);
  }
});

test("a key is held no longer when the next run of its lane is in a lower class", async () => {
  await declare({ priority: [{ name: "chat", match: { "metadata.kind": "chat" } }, { name: "default" }], ageing: 50 });
  const batch = { a: "1", b: "1" };
  let [a, b] = [await start({ a: "1", kind: "chat" }), await start({ b: "1", kind: "chat" })];
  await claim();
  const old = await start(batch);
  await sql`update runs set created_at = now() - interval '51 s', available_at = now() - interval '51 s' where run_id = ${old}`;
  await start(batch);
  await claim();
  for (let n = 0; n < 4 && (await held()).length === 0; n++) {
    const next = [await start({ a: "1", kind: "chat" }), await start({ b: "1", kind: "chat" })];
    await finish(a);
    a = (await claim())[0] ?? a;
    if ((await held()).length > 0) break;
    await finish(b);
    b = (await claim())[0] ?? b;
    expect(next).toEqual([a, b]);
  }
  expect(await held()).toEqual(["metadata.a=1"]);
  await cancel(old);
  expect(await claim()).toHaveLength(1);
  expect(await held()).toEqual([]);
  expect(await sql`select 1 from run_lanes where passed > 0`).toHaveLength(0);
});

test("a run of a lower class holds nothing", async () => {
  await declare({ priority: [{ name: "chat", match: { "metadata.kind": "chat" } }, { name: "default" }], ageing: 0 });
  const both = [await start({ a: "1", kind: "chat" }), await start({ b: "1", kind: "chat" })] as [string, string];
  await claim();
  const low = await start({ a: "1", b: "1" });
  await claim();
  let [a, b] = both;
  for (let n = 0; n < 5; n++) {
    await start({ a: "1", kind: "chat" });
    await finish(a);
    [a] = (await claim()) as [string];
    await start({ b: "1", kind: "chat" });
    await finish(b);
    [b] = (await claim()) as [string];
    expect(await held()).toEqual([]);
  }
  expect(await status(low)).toBe("pending");
});

test("keys are held in one order, so that runs which need each other's keys all begin", async () => {
  const rules = ["a", "b", "c"].map((key) => ({ key: `metadata.${key}`, limit: 1 }));
  await declare({ concurrency: rules });
  const running = new Set([await start({ a: "1" }), await start({ b: "1" }), await start({ c: "1" } as Keys)]);
  await claim();
  const pairs = [
    { a: "1", b: "1" },
    { b: "1", c: "1" } as Keys,
    { c: "1", a: "1" } as Keys,
    { a: "1", b: "1", c: "1" },
  ];
  const runs: string[] = [];
  for (const keys of pairs) runs.push(await start(keys));
  const begun = new Set<string>();
  for (let n = 0; n < 60 && !runs.every((id) => begun.has(id)); n++) {
    await start({ [["a", "b", "c"][n % 3]!]: "1" });
    const oldest = [...running][0]!;
    running.delete(oldest);
    await finish(oldest);
    for (const id of await claim()) {
      running.add(id);
      begun.add(id);
    }
    expect(running.size).toBeGreaterThan(0);
  }
  expect(runs.filter((id) => !begun.has(id))).toEqual([]);
});

test("a run whose thread is locked while it holds all its keys begins when the lock is gone", async () => {
  const { run, b } = await holding();
  const other = await sql.reserve();
  await other`begin`;
  await other`select 1 from threads where thread_id = ${threads.get(run)!} for update`;
  await finish(b);
  const next = await start({ b: "1" });
  expect(await claim()).toEqual([]);
  expect(await held()).toEqual(["metadata.a=1", "metadata.b=1"]);
  await other`rollback`;
  other.release();
  await sql`select pg_sleep(0.06)`;
  expect(await claim()).toEqual([run]);
  await finish(run);
  expect(await claim()).toEqual([next]);
});

test("a run with a higher limit of a held key takes it from a run with a lower one", async () => {
  const { run, b } = await holding();
  const rules = [
    { key: "metadata.a", limit: 2 },
    { key: "metadata.b", limit: 1 },
  ];
  await declare({ concurrency: rules });
  const loose = await start({ a: "1" });
  expect(await claim()).toEqual([loose]);
  await finish(b);
  // its own limit permits no start beside the other one
  expect(await claim()).toEqual([]);
  const free = await start({ b: "1" });
  expect([...(await claim()), ...(await claim())]).toEqual([free]);
  await finish(free);
  await finish(loose);
  expect([...(await claim()), ...(await claim())]).toEqual([run]);
});

test("a run with a key and a rate begins although others use either by turns", async () => {
  await declare({
    concurrency: [{ key: "metadata.a", limit: 1 }],
    throttle: [{ key: "metadata.b", limit: 1, period: 100 }],
  });
  let a = await start({ a: "1" });
  await start({ b: "1" });
  expect(await claim()).toHaveLength(2);
  const run = await start({ a: "1", b: "1" });
  await claim();
  /** Moves the limiter to the time at which it permits a start. */
  const permit = async () => {
    await sql`update run_rates set tat = now(), wake_at = now()`;
    await sql`update run_queue_events set due_at = now() where freed is not null`;
  };
  for (let round = 0; round < 5; round++) {
    const next = await start({ a: "1" });
    await finish(a);
    const claimed = await claim();
    if (claimed.includes(next)) a = next;
    await start({ b: "1" });
    await permit();
    if ((await claim()).includes(run)) return;
  }
  throw new Error("the run was passed over for ever");
});
