/** Flow control as decided by Postgres: functions/flow.sql through runs/sql.ts. */
import { randomUUID } from "node:crypto";

import { beforeEach, expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { queueSection } from "../project/queue-config.ts";
import { cancelRunRow, claimRuns, createRuns, putQueueRules, releaseRun, tendQueue } from "./sql.ts";

const { sql, me, newThread, newRun, create, finish, status } = await queueRows();

const declare = (rules: object) => putQueueRules(sql, { echo: queueSection.parse(rules) });
const start = async (metadata: object, config: object = {}, options: object = {}) =>
  create(await newThread(), {
    metadata: JSON.stringify(metadata),
    kwargs: JSON.stringify({ config }),
    claim: true,
    ...options,
  });
const claim = async (limit = 32) => (await claimRuns(sql, me, limit)).map(({ run_id: id }) => id);
const running = async (customer: string) =>
  Number(
    (await sql`select count(*) as n from runs where status = 'running' and metadata ->> 'customer' = ${customer}`)[0]![
      "n"
    ],
  );

beforeEach(async () => {
  await sql`truncate runs, threads, run_queue_events, run_lanes, run_ready, run_slots, run_rates cascade`;
  await putQueueRules(sql, { echo: null });
});

test("a run of a graph without rules has no flow, and starts at once", async () => {
  expect(await start({ customer: "a" })).toMatchObject({ outcome: "created", claimed: true });
  expect(await sql`select 1 from run_queue_events`).toHaveLength(0);
});

test("runs of one key stay within its limit, those of others and without the key pass", async () => {
  await declare({ concurrency: [{ key: "metadata.customer", limit: 2 }] });
  const a = [];
  for (let n = 0; n < 5; n++) a.push((await start({ customer: "a" })).runId);
  const others = [(await start({ customer: "b" })).runId, (await start({})).runId];
  expect(new Set(await claim())).toEqual(new Set([a[0], a[1], ...others]));
  expect(await claim()).toEqual([]);
  await finish(a[1]!);
  await finish(others[0]!);
  expect(await claim()).toEqual([a[2]]);
  expect(await running("a")).toBe(2);
});

test("a run that its server lost frees its slot once, and waits for one again", async () => {
  await declare({ concurrency: [{ key: "metadata.customer", limit: 1 }] });
  const [first, second] = [await start({ customer: "a" }), await start({ customer: "a" })];
  expect(await claim()).toEqual([first.runId]);
  const lost = { runId: first.runId, attempt: 1, blame: false, maxFailures: 3, reason: "", notify: false };
  expect((await releaseRun(sql, lost)).outcome).toBe("pending");
  expect((await releaseRun(sql, lost)).outcome).toBe("lost");
  expect(await sql`select 1 from run_slots`).toHaveLength(0);
  expect(await claim()).toEqual([first.runId]);
  expect(await claim()).toEqual([]);
  await finish(first.runId, 2);
  expect(await claim()).toEqual([second.runId]);
});

test("concurrent claims of several servers exceed no limit", async () => {
  await declare({
    concurrency: [
      { key: "metadata.customer", limit: 2 },
      { key: "all", limit: 7 },
    ],
  });
  const runs = [];
  for (let n = 0; n < 60; n++) runs.push(newRun(await newThread(), { metadata: `{"customer": "c${n % 6}"}` }));
  await createRuns(sql, runs);
  const ended = new Set<string>();
  const worker = async () => {
    for (let n = 0; n < 200 && ended.size < 60; n++) {
      for (const run of await claimRuns(sql, me, 3)) {
        const [most] = await sql<{ most: number; all: number }[]>`
          select max(n)::int as most, sum(n)::int as all from (
            select count(*) as n from runs where status = 'running' group by metadata ->> 'customer') c`;
        expect(most!.most).toBeLessThanOrEqual(2);
        expect(most!.all).toBeLessThanOrEqual(7);
        const [row] = await sql<{ thread_id: string }[]>`select thread_id from runs where run_id = ${run.run_id}`;
        expect(row!.thread_id).toBe(run.thread_id);
        await sql`select * from finish_run(${run.run_id}, ${run.thread_id}, 1, 'success', null, null, false)`;
        ended.add(run.run_id);
      }
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  expect(ended.size).toBe(60);
  expect(await sql`select 1 from run_slots`).toHaveLength(0);
});

test("higher classes start first, and a class rises while its run waits", async () => {
  await declare({
    priority: [{ name: "chat", match: { "metadata.kind": "chat" } }, { name: "default" }, { name: "batch" }],
    ageing: 100,
    fair: null,
  });
  const old = await start({}, { heddle: { queue: { priority: "batch" } } });
  const batch = await start({}, { heddle: { queue: { priority: "batch" } } });
  const plain = await start({});
  const chat = await start({ kind: "chat" });
  await sql`update runs set created_at = now() - interval '201 s', available_at = now() - interval '201 s' where run_id = ${old.runId}`;
  expect(await claim(1)).toEqual([old.runId]);
  expect(await claim(1)).toEqual([chat.runId]);
  expect(await claim(1)).toEqual([plain.runId]);
  expect(await claim(1)).toEqual([batch.runId]);
});

test("a run that has aged by several classes since the last claim counts in the class of its age", async () => {
  await declare({ priority: [{ name: "chat" }, { name: "default" }, { name: "batch" }], ageing: 100, fair: null });
  const old = await start({}, { heddle: { queue: { priority: "batch" } } });
  await tendQueue(sql);
  const back = sql`interval '201 s'`;
  await sql`update runs set created_at = created_at - ${back}, available_at = available_at - ${back}`;
  await sql`update run_lanes set promote_at = promote_at - ${back}`;
  const chat = await start({}, { heddle: { queue: { priority: "chat" } } });
  expect([...(await claim(1)), ...(await claim(1))]).toEqual([old.runId, chat.runId]);
});

test("keys share the starts fairly, whatever the number of their runs", async () => {
  await declare({ fair: "metadata.customer" });
  const heavy = [];
  for (let n = 0; n < 20; n++) heavy.push((await start({ customer: "heavy" })).runId);
  expect(await claim(4)).toEqual(heavy.slice(0, 4));
  const light = [(await start({ customer: "light" })).runId, (await start({ customer: "light" })).runId];
  const next = [...(await claim(1)), ...(await claim(1)), ...(await claim(1)), ...(await claim(1))];
  expect(next.filter((id) => light.includes(id))).toHaveLength(2);
  expect(await claim(32)).toHaveLength(14);
});

test("a throttle permits its burst, and then one run per interval", async () => {
  await declare({ throttle: [{ key: "metadata.customer", limit: 60, period: 60, burst: 3 }] });
  for (let n = 0; n < 6; n++) await start({ customer: "a" });
  expect(await claim()).toHaveLength(3);
  expect(await claim()).toHaveLength(0);
  const [{ s }] = await sql<[{ s: number }]>`
    select extract(epoch from min(due_at) - now())::float8 as s from run_queue_events where due_at > now()`;
  expect(s).toBeGreaterThan(0.5);
  expect(s).toBeLessThanOrEqual(1);
  await sql`select pg_sleep(${s + 0.02})`;
  expect(await claim()).toHaveLength(1);
  expect(await claim()).toHaveLength(0);
});

test("a key with too many waiting runs refuses the next one, until one begins", async () => {
  await declare({ waiting: [{ key: "metadata.customer", limit: 2 }] });
  const kwargs = '{"refusable": true}';
  await start({ customer: "a" }, {}, { kwargs });
  await start({ customer: "a" }, {}, { kwargs });
  const full = await start({ customer: "a" }, {}, { kwargs });
  expect([full.outcome, JSON.parse(full.run!)]).toEqual(["queue_full", { key: "metadata.customer=a", limit: 2 }]);
  expect((await start({ customer: "b" }, {}, { kwargs })).outcome).toBe("created");
  await claim(1);
  expect((await start({ customer: "a" }, {}, { kwargs })).outcome).toBe("created");
});

test("a run that has not begun in time ends, and one that has does not", async () => {
  await declare({ concurrency: [{ key: "all", limit: 1 }], expires_after: 30 });
  const [first, second] = [await start({}), await start({}, { heddle: { queue: { expires_after: 60 } } })];
  const third = await start({});
  expect(await claim()).toEqual([first.runId]);
  await sql`update run_queue_events set due_at = due_at - interval '31 s' where expires is not null`;
  expect(await claim()).toEqual([]);
  expect(await Promise.all([first, second, third].map(({ runId }) => status(runId)))).toEqual([
    "running",
    "pending",
    "interrupted",
  ]);
});

test("of class and time to expiry each is the run's, else the assistant's, else that of the rules", async () => {
  await declare({ expires_after: 30, priority: [{ name: "a" }, { name: "b" }, { name: "default" }] });
  const place = async (queue: object | null) => {
    const { runId } = await start({}, queue === null ? {} : { heddle: { queue } });
    const [row] = await sql`
      select (flow -> 'rank')::int as rank, (flow -> 'expires_after')::int as expires from runs where run_id = ${runId}`;
    return [row!["rank"], row!["expires"]];
  };
  expect(await place({ expires_after: null })).toEqual([2, 30]);
  const ofAssistant = { heddle: { queue: { priority: "b", expires_after: 60 } } };
  await sql`update assistants set config = ${JSON.stringify(ofAssistant)}::text::jsonb`;
  expect(await place(null)).toEqual([1, 60]);
  expect(await place({ expires_after: 5 })).toEqual([1, 5]);
  expect(await place({ priority: "a" })).toEqual([0, 60]);
  expect(await place({ priority: null, expires_after: null })).toEqual([1, 60]);
  await sql`update assistants set config = '{}'`;
});

test("runs of a thread keep their order across keys, and follow runs without flow", async () => {
  const thread = await newThread();
  const plain = await create(thread, { claim: true });
  await declare({ concurrency: [{ key: "metadata.customer", limit: 1 }] });
  const a = await create(thread, { metadata: '{"customer": "a"}' });
  const b = await create(thread, { metadata: '{"customer": "b"}' });
  expect(await claim()).toEqual([]);
  await finish(plain.runId);
  expect(await claim()).toEqual([a.runId]);
  const c = await create(thread, { metadata: '{"customer": "c"}' });
  await cancelRunRow(sql, { runId: b.runId, threadId: thread, action: "interrupt", reason: null });
  await finish(a.runId);
  expect(await claim()).toEqual([c.runId]);
});

test("the newest input on a thread takes the place of those within the window, which has an end", async () => {
  await declare({ debounce: { seconds: 30, longest: 40 }, fair: null });
  const thread = await newThread();
  const input = (text: string) => ({ kwargs: JSON.stringify({ input: { text } }) });
  const first = await create(thread, input("a"));
  const second = await create(thread, { ...input("b"), strategy: "reject" });
  expect([second.outcome, second.cancelled]).toEqual(["created", [first.runId]]);
  expect(await status(first.runId)).toBe("interrupted");
  const answer = await create(thread, { kwargs: '{"command": {"goto": "x"}}' });
  expect(await claim()).toEqual([answer.runId]);
  const wait = async (id: string) =>
    Number(
      (await sql`select extract(epoch from available_at - created_at) as s from runs where run_id = ${id}`)[0]!["s"],
    );
  expect(await wait(second.runId)).toBe(30);
  await sql`update runs set flow = jsonb_set(flow, '{debounced_since}', to_jsonb(extract(epoch from now()) - 39.5)) where run_id = ${second.runId}`;
  const third = await create(thread, input("c"));
  expect(await wait(third.runId)).toBeLessThan(1);
  await finish(answer.runId);
  await sql`select pg_sleep(0.6)`;
  expect(await claim()).toEqual([third.runId]);
});

test("the first inputs of a new thread replace each other, whichever creates the thread", async () => {
  await declare({
    waiting: [{ key: "metadata.customer", limit: 1 }],
    debounce: { seconds: 30, longest: 40 },
    fair: null,
  });
  const thread = randomUUID();
  const input = {
    metadata: '{"customer": "a"}',
    kwargs: '{"input": {"text": "a"}, "refusable": true}',
    createThread: true,
  };
  const first = newRun(thread, input);
  const other = await sql.reserve();
  await other`begin`;
  await createRuns(other, [first]);
  // finds no thread, and then waits for the key that the first holds
  const later = create(thread, input);
  await expect
    .poll(
      async () => (await sql`select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted`)[0],
    )
    .toEqual({ n: 1 });
  await other`commit`;
  other.release();
  const second = await later;
  expect([second.outcome, second.cancelled]).toEqual(["created", [first.runId]]);
  const rows = await sql<{ since: number }[]>`
    select (flow ->> 'debounced_since')::float8 as since from runs where thread_id = ${thread}`;
  expect(rows.map(({ since }) => since)).toEqual([rows[0]!.since, rows[0]!.since]);
});

test("concurrent creations, alone and in groups, never exceed a limit of waiting runs", async () => {
  const waiting = [
    { key: "metadata.customer", limit: 5 },
    { key: "metadata.plan", limit: 9 },
  ];
  await declare({ waiting, concurrency: [{ key: "all", limit: 1 }] });
  const kwargs = '{"refusable": true}';
  const run = (customer: string) =>
    newRun(randomUUID(), { kwargs, createThread: true, metadata: JSON.stringify({ customer, plan: "free" }) });
  const outcomes: string[] = [];
  const note = (created: { outcome: string }[]) => void outcomes.push(...created.map(({ outcome }) => outcome));
  await Promise.all(
    Array.from({ length: 16 }, async (_, n) => {
      const [a, b] = n % 2 === 0 ? ["a", "b"] : ["b", "a"];
      if (n % 4 < 2) return note(await createRuns(sql, [run(a!), run(b!)], false));
      note(await createRuns(sql, [run(a!)]));
    }),
  );
  // those that must not wait are sent again, alone
  while (outcomes.includes("locked")) {
    outcomes.splice(outcomes.indexOf("locked"), 1);
    note(await createRuns(sql, [run(outcomes.length % 2 === 0 ? "a" : "b")]));
  }
  const [counts] = await sql<[{ a: number; b: number; all: number }]>`
    select count(*) filter (where metadata ->> 'customer' = 'a')::int as a,
           count(*) filter (where metadata ->> 'customer' = 'b')::int as b, count(*)::int as all from runs`;
  expect(counts.a).toBeLessThanOrEqual(5);
  expect(counts.b).toBeLessThanOrEqual(5);
  expect(counts.all).toBe(9);
  expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(9);
});

test("a run that rises to a higher class shares it from then on, without credit for its wait", async () => {
  await declare({
    priority: [{ name: "chat", match: { "metadata.kind": "chat" } }, { name: "batch" }],
    ageing: 100,
    fair: "metadata.customer",
  });
  const batch = [];
  for (let n = 0; n < 10; n++) batch.push((await start({ customer: "a" })).runId);
  for (let n = 0; n < 8; n++) {
    const { runId } = await start({ customer: "b", kind: "chat" });
    expect(await claim(1)).toEqual([runId]);
  }
  await sql`update runs set created_at = now() - interval '101 s', available_at = now() - interval '101 s'
    where run_id = any(${batch})`;
  await sql`update run_ready set since = now() - interval '101 s' where run_id = any(${batch})`;
  await sql`update run_lanes set promote_at = now() where rank = 1`;
  const chat: string[] = [];
  for (let n = 0; n < 3; n++) chat.push((await start({ customer: "b", kind: "chat" })).runId);
  const next: string[] = [];
  for (let n = 0; n < 6; n++) next.push(...(await claim(1)));
  expect(next.filter((id) => chat.includes(id))).toHaveLength(3);
});

test("a key that is new in a class takes turns there, whatever has started in the classes above", async () => {
  await declare({
    priority: [{ name: "chat", match: { "metadata.kind": "chat" } }, { name: "batch" }],
    ageing: 0,
    fair: "metadata.customer",
  });
  for (let n = 0; n < 8; n++) await start({ customer: "a" });
  for (let n = 0; n < 8; n++) {
    const { runId } = await start({ customer: "c", kind: "chat" });
    expect(await claim(1)).toEqual([runId]);
  }
  const added = [(await start({ customer: "b" })).runId, (await start({ customer: "b" })).runId];
  const next: string[] = [];
  for (let n = 0; n < 4; n++) next.push(...(await claim(1)));
  expect(next.filter((id) => added.includes(id))).toHaveLength(2);
});

test("a scheduled run takes its place and ages from the time when it is due", async () => {
  await declare({
    priority: [{ name: "chat", match: { "metadata.kind": "chat" } }, { name: "batch" }],
    ageing: 2,
    fair: null,
  });
  const scheduled = await start({}, {}, { afterSeconds: 2.2 });
  const batch = await start({});
  await sql`select pg_sleep(2.25)`;
  const chat = await start({ kind: "chat" });
  expect([...(await claim(1)), ...(await claim(1)), ...(await claim(1))]).toEqual(
    [batch, chat, scheduled].map(({ runId }) => runId),
  );
});

test("a run that takes the place of a waiting one is not refused for it", async () => {
  await declare({ waiting: [{ key: "metadata.customer", limit: 1 }], debounce: { seconds: 30 }, fair: null });
  const thread = await newThread();
  const input = { metadata: '{"customer": "a"}', kwargs: '{"input": {"text": "a"}, "refusable": true}' };
  const first = await create(thread, input);
  const second = await create(thread, input);
  expect([second.outcome, second.cancelled]).toEqual(["created", [first.runId]]);
  expect((await create(await newThread(), input)).outcome).toBe("queue_full");
  const command = { ...input, kwargs: '{"command": {"goto": "x"}, "refusable": true}' };
  expect((await create(thread, command)).outcome).toBe("queue_full");
  const third = await create(thread, { ...command, strategy: "interrupt" });
  expect([third.outcome, third.cancelled]).toEqual(["created", [second.runId]]);
});
