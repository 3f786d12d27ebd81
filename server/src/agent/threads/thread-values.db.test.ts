/** Values with long lists are stored item by item (functions/values.sql) and read like others. */
import { randomUUID } from "node:crypto";

import { describe, expect, test, vi } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { updateThreadHead, selectRunState } from "../runs/sql.ts";
import { endKeptRuns, selectFollowedRuns, selectRunResult } from "../streams/sql.ts";
import { selectMessage } from "../webhooks/sql.ts";
import { measureStorage } from "./storage-sql.ts";
import { searchBody } from "./schema.ts";
import {
  copyThread,
  countThreads,
  deleteThreadRows,
  findThread,
  patchThread,
  searchThreads,
  settleUpdatedState,
} from "./sql.ts";

const { sql, newThread, create, finish } = await queueRows();

type Values = Record<string, unknown>;
interface State {
  values: Values;
  lists?: Record<string, { keep: number; items: unknown[] }>;
  of?: string;
  base?: string;
  next?: string[];
  interrupts?: object;
}

const message = (n: number) => ({
  type: n % 2 ? "ai" : "human",
  id: `m${n}`,
  content: `text "${n}" – é`,
  extra: { n, tags: ["t", n] },
});
const messages = (count: number) => Array.from({ length: count }, (_, n) => message(n));

/** Ends a run of the thread with this state. */
async function end(threadId: string, state: State, outcome: "success" | "error" = "success") {
  const run = await create(threadId, { claim: true });
  const finished = await finish(run.runId, 1, outcome, { next: [], interrupts: {}, ...state });
  return { ...finished, runId: run.runId };
}

/** Ends a run whose long lists are all new. */
const endSplit = (threadId: string, values: Values, lists: Record<string, unknown[]>, of = "c1") =>
  end(threadId, {
    values,
    of,
    lists: Object.fromEntries(Object.entries(lists).map(([key, items]) => [key, { keep: 0, items }])),
  });

const read = async (threadId: string) => (JSON.parse((await findThread(sql, threadId))!) as { values: Values }).values;
const row = async (threadId: string) =>
  (await sql`select values, value_lists, values_of from threads where thread_id = ${threadId}`)[0]!;
const items = async (threadId: string) =>
  (await sql<{ n: number }[]>`select count(*)::int as n from thread_value_items where thread_id = ${threadId}`)[0]!.n;
/** Tuples of items by position; a tuple that is not written again stays. */
const tuples = async (threadId: string) =>
  (
    await sql<{ at: string }[]>`select ctid::text as at from thread_value_items where thread_id = ${threadId}
                               order by channel, position`
  ).map(({ at }) => at);

const SMALL = { topic: "tea", flag: true, none: null, aa: { deep: [1, [2]] }, b: [], ключ: "v" };
const LISTS = { messages: messages(100), log: ["a", 1, null, [1, ["x"]], { k: [1, 2] }, "a", true] };

/** Two threads with the same values, one stored as a whole. */
async function twins() {
  const [whole, split] = [await newThread({ twin: true }), await newThread({ twin: true })];
  await end(whole, { values: { ...SMALL, ...LISTS } });
  await endSplit(split, SMALL, LISTS);
  expect((await row(whole))["value_lists"]).toBeNull();
  expect(await row(split)).toEqual({ values: SMALL, value_lists: { messages: 100, log: 7 }, values_of: "c1" });
  return { whole, split };
}

describe("readers", () => {
  test("return the same values in the same order of keys", async () => {
    const { whole, split } = await twins();
    const compact = async (id: string) => JSON.stringify(await read(id));
    expect(await compact(split)).toBe(await compact(whole));
    expect(Object.keys(await read(split))).toEqual(["b", "aa", "log", "flag", "none", "topic", "messages", "ключ"]);
    const withTtl = JSON.parse((await findThread(sql, split, true))!) as { values: Values };
    expect(withTtl.values).toEqual(await read(whole));
    const patched = JSON.parse((await patchThread(sql, split, { more: 1 }))!) as { values: Values; metadata: object };
    expect(patched).toMatchObject({ metadata: { more: 1 }, values: await read(whole) });
  });

  test("search returns and selects the values", async () => {
    const { whole, split } = await twins();
    const find = async (body: object) =>
      JSON.parse((await searchThreads(sql, searchBody.parse(body))).items) as { values?: Values }[];
    const expected = await read(whole);
    expect(await find({ ids: [split] })).toMatchObject([{ values: expected }]);
    expect(await find({ ids: [split], select: ["values"] })).toEqual([{ values: expected }]);
    expect(await find({ ids: [split], select: ["status"] })).toEqual([{ status: "idle" }]);
  });

  test.each([
    { topic: "tea" },
    { topic: "coffee" },
    { messages: [] },
    { log: [] },
    { messages: {} },
    { messages: "m1" },
    { missing: [] },
    { aa: { deep: [[2]] } },
    { log: ["a"] },
    { log: ["a", true, 1] },
    { log: ["b"] },
    { log: "a" },
    { log: [["x"]] },
    { log: [[["x"]]] },
    { log: [[1]] },
    { log: [[]] },
    { log: [{}] },
    { log: [{ k: [2] }] },
    { log: [{ k: 2 }] },
    { log: [2] },
    { messages: [{ id: "m99" }] },
    { messages: [{ id: "m99" }, { id: "m0", extra: { tags: ["t"] } }] },
    { messages: [{ id: "m100" }] },
    { messages: [{ id: "m1", type: "human" }] },
    { messages: [{ content: 'text "7" – é' }], topic: "tea" },
    { messages: [{ id: "m1" }], topic: "coffee" },
  ])("search and count find the same threads by %j", async (values) => {
    const { whole, split } = await twins();
    const found = async (id: string) => countThreads(sql, { values, ids: [id] });
    expect(await found(split)).toBe(await found(whole));
    const page = await searchThreads(sql, searchBody.parse({ values, ids: [split] }));
    expect(page.total).toBe(await found(whole));
  });

  test.each([
    "values",
    "values.topic",
    "values.messages",
    "values.messages[0]",
    "values.messages[-1].content",
    "values.messages[-100].id",
    "values.messages[-101].id",
    "values.messages[99].extra.tags[1]",
    "values.messages[100]",
    "values.messages.7.id",
    "values.messages.+7.id",
    "values.messages. 7.id",
    "values.messages.7x.id",
    "values.messages.id",
    "values.log[3][1][0]",
    "values.log[2]",
    "values.aa.deep[0]",
    "values.missing[0]",
  ])("extract reads the same at %s", async (path) => {
    const { whole, split } = await twins();
    const extract = async (id: string) =>
      (
        JSON.parse((await searchThreads(sql, searchBody.parse({ ids: [id], extract: { it: path } }))).items) as {
          extracted: Values;
        }[]
      )[0]!.extracted;
    expect(await extract(split)).toEqual(await extract(whole));
  });

  test("a run's readers get the joined values", async () => {
    const threadId = await newThread();
    const { runId } = await endSplit(threadId, SMALL, LISTS);
    const expected = { ...SMALL, ...LISTS };
    expect(JSON.parse((await selectRunState(sql, threadId, runId))!.values!)).toEqual(expected);
    expect(JSON.parse((await selectRunResult(sql, runId))!.values!)).toEqual(expected);
    expect(JSON.parse((await selectFollowedRuns(sql, [runId]))[0]!.values!)).toEqual(expected);
  });

  test("an update of metadata that waited for a run's end returns all of the new values", async () => {
    const threadId = await newThread();
    await endSplit(threadId, {}, { messages: messages(70) });
    let patched: Promise<string | undefined> | undefined;
    await sql.begin(async (tx) => {
      await tx`select 1 from threads where thread_id = ${threadId} for update`;
      patched = patchThread(sql, threadId, { more: 1 });
      await vi.waitUntil(async () => (await sql`select 1 from pg_locks where not granted`).length > 0);
      const state = JSON.stringify({ values: {}, lists: { messages: { keep: 0, items: messages(80) } } });
      await tx`select put_values(${threadId}, ${state}::text::jsonb)`;
    });
    expect((JSON.parse((await patched)!) as { values: Values }).values).toEqual({ messages: messages(80) });
  });

  test("storage counts the items", async () => {
    const threadId = await newThread();
    await endSplit(threadId, SMALL, {});
    const total = async () =>
      (JSON.parse((await measureStorage(sql, threadId))!) as { total_bytes: number }).total_bytes;
    const before = await total();
    await endSplit(threadId, SMALL, LISTS);
    expect((await total()) - before).toBeGreaterThan(10_000);
  });

  test("a webhook's message has the values of its run, also after later runs", async () => {
    const threadId = await newThread();
    const run = await create(threadId, { claim: true, kwargs: '{"webhook": "http://hooks.example/x"}' });
    const lists = { messages: { keep: 0, items: messages(80) } };
    await finish(run.runId, 1, "success", { values: SMALL, lists, of: "c1", next: [], interrupts: {} });
    await end(threadId, { values: {}, lists: { messages: { keep: 80, items: [message(80)] } }, base: "c1", of: "c2" });
    const sent = JSON.parse((await selectMessage(sql, run.runId))!.text) as { values: Values };
    expect(sent.values).toEqual({ ...SMALL, messages: messages(80) });
  });
});

describe("a run's end", () => {
  test("keeps stored items and writes those that follow", async () => {
    const threadId = await newThread();
    await endSplit(threadId, { topic: "a" }, { messages: messages(100) });
    const before = await tuples(threadId);
    const state = { values: { topic: "b" }, lists: { messages: { keep: 100, items: [message(100), message(101)] } } };
    expect(await end(threadId, { ...state, base: "c1", of: "c2" })).toMatchObject({ outcome: "success" });
    expect(await read(threadId)).toEqual({ topic: "b", messages: messages(102) });
    expect(await row(threadId)).toMatchObject({ value_lists: { messages: 102 }, values_of: "c2" });
    expect((await tuples(threadId)).slice(0, 100)).toEqual(before);
  });

  test("writes only the items that differ when nothing is kept", async () => {
    const threadId = await newThread();
    await endSplit(threadId, {}, { messages: messages(100) });
    const before = await tuples(threadId);
    const changed = messages(101).map((m, n) => (n === 50 ? { ...m, content: "edited" } : m));
    await endSplit(threadId, {}, { messages: changed }, "c2");
    expect(await read(threadId)).toEqual({ messages: changed });
    const after = await tuples(threadId);
    expect(after.flatMap((at, n) => (at === before[n] ? [] : [n]))).toEqual([50, 100]);
  });

  test("replaces the items from the first that is not kept, and shortens the list", async () => {
    const threadId = await newThread();
    await endSplit(threadId, {}, { messages: messages(100) });
    const lists = { messages: { keep: 70, items: [message(1), message(2)] } };
    await end(threadId, { values: {}, lists, base: "c1", of: "c2" });
    expect(await read(threadId)).toEqual({ messages: [...messages(70), message(1), message(2)] });
    expect(await items(threadId)).toBe(72);
    await endSplit(threadId, {}, { messages: messages(64) }, "c3");
    expect(await read(threadId)).toEqual({ messages: messages(64) });
    expect(await items(threadId)).toBe(64);
  });

  test("deletes the items of a list that became short, and of one that is gone", async () => {
    const threadId = await newThread();
    await endSplit(threadId, {}, { messages: messages(100), documents: messages(70) });
    await endSplit(threadId, { messages: ["short"] }, { documents: messages(70) }, "c2");
    expect(await read(threadId)).toEqual({ messages: ["short"], documents: messages(70) });
    expect(await items(threadId)).toBe(70);
    await end(threadId, { values: { messages: ["short"] } });
    expect(await read(threadId)).toEqual({ messages: ["short"] });
    expect(await items(threadId)).toBe(0);
    expect((await row(threadId))["value_lists"]).toBeNull();
  });

  test.each([
    ["another checkpoint", { base: "c0", keep: 100 }],
    ["no checkpoint", { base: undefined, keep: 100 }],
    ["fewer items", { base: "c1", keep: 101 }],
  ])("writes nothing where the list continues %s", async (_, { base, keep }) => {
    const threadId = await newThread();
    await endSplit(threadId, { topic: "a" }, { messages: messages(100) });
    const before = await read(threadId);
    const lists = { messages: { keep, items: [message(200)] } };
    const run = await create(threadId, { claim: true });
    const state = { values: { topic: "b" }, lists, ...(base && { base }), of: "c2", next: [], interrupts: {} };
    expect(await finish(run.runId, 1, "success", state)).toEqual({ outcome: "stale_values", waiting: false });
    expect(await read(threadId)).toEqual(before);
    expect((await selectRunState(sql, threadId, run.runId))!.status).toBe("running");
    const [thread] = await sql`select status, running_run_id from threads where thread_id = ${threadId}`;
    expect(thread).toEqual({ status: "busy", running_run_id: run.runId });
    const whole = { ...state, lists: { messages: { keep: 0, items: messages(101) } } };
    expect((await finish(run.runId, 1, "success", whole)).outcome).toBe("success");
    expect(await read(threadId)).toEqual({ topic: "b", messages: messages(101) });
  });

  test("a stored stream is not ended by an end that writes nothing", async () => {
    const threadId = await newThread();
    const run = await create(threadId, { claim: true });
    const endKept = async (keep: number) => {
      const lists = { messages: { keep, items: messages(70) } };
      const state = JSON.stringify({ values: {}, lists, base: "c0", of: "c1", next: [], interrupts: {} });
      const tail = { first: 0, count: 1, frames: "frame", last: null };
      const finished = { runId: run.runId, threadId, attempt: 1, outcome: "success" as const, error: null, state };
      return (await endKeptRuns(sql, [{ ...finished, ...tail }], false))[0]!;
    };
    expect((await endKept(5)).outcome).toBe("stale_values");
    expect(await sql`select 1 from run_streams where run_id = ${run.runId}`).toHaveLength(0);
    expect(await endKept(0)).toEqual({ outcome: "success", waiting: false, stored: 1 });
    expect(await read(threadId)).toEqual({ messages: messages(70) });
  });

  test("without a state it leaves the lists as they are", async () => {
    const threadId = await newThread();
    await endSplit(threadId, {}, { messages: messages(70) });
    const run = await create(threadId, { claim: true });
    await finish(run.runId, 1, "error", null);
    expect(await read(threadId)).toEqual({ messages: messages(70) });
    expect(await row(threadId)).toMatchObject({ values_of: "c1" });
  });
});

describe("other writers", () => {
  test("a server of an earlier version that writes whole values replaces the lists", async () => {
    const threadId = await newThread();
    await endSplit(threadId, { topic: "a" }, { messages: messages(70), log: messages(70) });
    const values = JSON.stringify({ topic: "b", messages: messages(2) });
    await sql`update threads set values = ${values}::text::jsonb where thread_id = ${threadId}`;
    expect(await read(threadId)).toEqual({ topic: "b", messages: messages(2) });
    expect(await row(threadId)).toMatchObject({ value_lists: null, values_of: null });
    expect(await items(threadId)).toBe(0);
  });

  test("a state update and a state read again divide long lists and write what differs", async () => {
    const threadId = await newThread();
    const long = messages(200);
    const update = (list: unknown[], of: string) =>
      sql.begin((tx) => {
        const state = { values: { topic: "t", list, tiny: [1] }, next: [], interrupts: {}, of };
        return settleUpdatedState(tx, threadId, JSON.stringify({ checkpoint: { checkpoint_id: of }, state }));
      });
    expect(JSON.parse(await update(long, "c1"))).toEqual({ checkpoint_id: "c1" });
    expect(await row(threadId)).toEqual({
      values: { topic: "t", tiny: [1] },
      value_lists: { list: 200 },
      values_of: "c1",
    });
    expect(await read(threadId)).toEqual({ topic: "t", list: long, tiny: [1] });
    const before = await tuples(threadId);
    await update([...long, message(200)], "c2");
    expect((await tuples(threadId)).slice(0, 200)).toEqual(before);

    const head = JSON.stringify({ values: { list: long }, next: ["n"], interrupts: {}, of: "c3" });
    expect(await updateThreadHead(sql, threadId, "c3", head)).toBe(false);
    await sql`insert into checkpoints (thread_id, checkpoint_id, checkpoint) values (${threadId}, 'c3', '{}')`;
    expect(await updateThreadHead(sql, threadId, "c3", head)).toBe(true);
    expect(await read(threadId)).toEqual({ list: long });
    expect(await row(threadId)).toMatchObject({ values_of: "c3" });
    expect(await tuples(threadId)).toEqual(before);
    await update([1], "c4");
    expect(await items(threadId)).toBe(0);
    expect(await read(threadId)).toEqual({ topic: "t", list: [1], tiny: [1] });
  });

  test("a copy has its own items, and continues from the same checkpoint", async () => {
    const threadId = await newThread();
    await endSplit(threadId, SMALL, LISTS);
    const target = randomUUID();
    const copy = JSON.parse((await copyThread(sql, threadId, target))!) as { values: Values };
    expect(copy.values).toEqual({ ...SMALL, ...LISTS });
    await end(target, { values: {}, lists: { log: { keep: 7, items: ["more"] } }, base: "c1", of: "c2" });
    expect(await read(target)).toEqual({ log: [...LISTS.log, "more"] });
    expect(await read(threadId)).toEqual({ ...SMALL, ...LISTS });
  });

  test("items are deleted with their thread", async () => {
    const threadId = await newThread();
    await endSplit(threadId, SMALL, LISTS);
    await deleteThreadRows(sql, threadId);
    expect(await items(threadId)).toBe(0);
    const temporary = await newThread();
    await endSplit(temporary, SMALL, LISTS);
    const run = await create(temporary, { claim: true, temporary: true });
    await finish(run.runId);
    expect(await sql`select 1 from threads where thread_id = ${temporary}`).toHaveLength(0);
    expect(await items(temporary)).toBe(0);
  });
});
