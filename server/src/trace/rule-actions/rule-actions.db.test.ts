import { randomUUID } from "node:crypto";

import { expect, test, vi } from "vitest";

import { receiver } from "../../../test/receiver.ts";
import { sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const pager = await receiver((response) => response.writeHead(202).end());
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const { call, sql } = await testTracePlatform({
  HEDDLE_PAGERDUTY_URL: `${pager.url}/v2/enqueue`,
  HEDDLE_WEBHOOK_SECRETS: secret,
  HEDDLE_WEBHOOK_RETRY_MS: "50",
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

let created = 0;
async function ok(method: string, path: string, body?: unknown): Promise<Json> {
  const { status, json } = await call(method, path, body);
  expect({ path, status, json }).toMatchObject({ status: 200 });
  return json;
}

async function project(): Promise<{ id: string; name: string }> {
  const name = `ruled ${++created}`;
  return { id: (await ok("POST", "/sessions", { name })).id as string, name };
}

const rule = (body: Record<string, unknown>): Promise<Json> =>
  ok("POST", "/runs/rules", { display_name: `rule ${++created}`, sampling_rate: 1, ...body });

const recent = (): string => `${new Date(Date.now() - 60_000 + ++created).toISOString().slice(0, 23)}000Z`;

async function runs(name: string, count: number, fields: Partial<SampleRun> = {}): Promise<SampleRun[]> {
  const list = Array.from({ length: count }, (_, i) =>
    sampleRun(name, { start_time: recent(), inputs: { question: `${i} of ${name}` }, ...fields }),
  );
  await sendRuns(call, list);
  return list;
}

const log = async (id: string, query = ""): Promise<Json[]> =>
  ((await ok("GET", `/runs/rules/${id}/logs/v2?backfill=any${query}`)) as Json).logs;

/** Waits until the rule has decided about so many runs and is done with them. */
async function settled(id: string, count: number): Promise<Json[]> {
  let found: Json[] = [];
  await vi.waitFor(
    async () => {
      found = await log(id);
      expect(found.map((row) => row.status)).not.toContain("pending");
      expect(found).toHaveLength(count);
    },
    { timeout: 20_000, interval: 50 },
  );
  return found;
}

test("a match is added to a queue and a dataset, tagged, rated, reported and alerted, each once, and logged", async () => {
  const hook = await receiver();
  const { id, name } = await project();
  const queue = await ok("POST", "/annotation-queues", { name: "q" });
  const dataset = await ok("POST", "/datasets", { name: `d ${name}` });
  const { id: ruleId } = await rule({
    session_id: id,
    filter: 'eq(name, "wanted")',
    add_to_annotation_queue_id: queue.id,
    add_to_dataset_id: dataset.id,
    dataset_mapping: { inputs: { q: "inputs.question" }, outputs: { a: "outputs.answer" } },
    add_tags: ["seen", "x"],
    add_feedback: [{ key: "flag", score: 1, comment: "by rule" }],
    extend_only: true,
    include_extended_stats: true,
    webhooks: [{ url: `${hook.url}/a`, headers: { "x-token": "t" } }, { url: `${hook.url}/b` }],
    alerts: [{ routing_key: "key", severity: "critical" }],
  });
  const [run] = await runs(name, 1, { name: "wanted", tags: ["own"] });
  await runs(name, 1, { name: "other" });
  const [entry] = await settled(ruleId as string, 1);
  expect(entry).toMatchObject({
    run_id: run!.id,
    run_name: "wanted",
    run_session_id: id,
    status: "done",
    reason: null,
    add_to_annotation_queue: { outcome: "success" },
    add_to_dataset: { outcome: "success" },
    tags: { outcome: "success" },
    feedback: { outcome: "success" },
    extend_only: { outcome: "success" },
    webhooks: { outcome: "success" },
    alerts: { outcome: "success" },
    evaluators: null,
  });
  const items = await ok("GET", `/annotation-queues/${queue.id}/runs`);
  expect(items).toMatchObject([{ id: run!.id }]);
  const examples = await ok("GET", `/examples?dataset=${dataset.id}`);
  expect(examples).toMatchObject([
    { inputs: { q: `0 of ${name}` }, outputs: { a: 42 }, source_run_id: run!.id, metadata: { rule_id: ruleId } },
  ]);
  const read = await ok("GET", `/runs/${run!.id}`);
  expect(read).toMatchObject({ tags: ["own", "seen", "x"], trace_tier: "longlived" });
  const feedback = await ok("GET", `/feedback?run=${run!.id}`);
  expect(feedback).toMatchObject([{ key: "flag", score: 1, feedback_source: { metadata: { rule_id: ruleId } } }]);
  await vi.waitFor(() => expect(hook.received).toHaveLength(2), 10_000);
  const [first] = hook.received.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  expect(first!.headers).toMatchObject({ "x-token": "t", "webhook-signature": expect.stringMatching(/^v1,/) });
  expect(first!.json).toMatchObject({
    event_id: entry.match_id,
    rule_id: ruleId,
    runs: [{ id: run!.id, outputs: { answer: 42 }, feedback_stats: { flag: { n: 1 } } }],
    feedback_stats: { flag: { avg: 1 } },
  });
  await vi.waitFor(() => expect(pager.received).toHaveLength(1), 10_000);
  expect(pager.received[0]!.json).toMatchObject({
    routing_key: "key",
    event_action: "trigger",
    dedup_key: entry.match_id,
    payload: { severity: "critical", source: `heddle/${id}` },
  });
  expect((await log(ruleId as string))[0].deliveries).toHaveLength(3);
  expect(await ok("GET", `/runs/rules/${ruleId}/last_applied`)).toMatchObject({ run_id: run!.id });
  expect(await ok("GET", `/runs/rules/${ruleId}/logs`)).toHaveLength(1);
  const [figures] = await ok("GET", `/runs/rules/statistics?id=${ruleId}`);
  expect(figures).toMatchObject({ rule_id: ruleId, matched: 1, done: 1, failed: 0 });
  // an update of the run, and its tags by the rule, change nothing
  await call("PATCH", `/runs/${run!.id}`, { outputs: { answer: 43 } });
  await new Promise((done) => setTimeout(done, 1500));
  expect(await log(ruleId as string)).toHaveLength(1);
  expect(hook.received).toHaveLength(2);
});

test("examples are not repeated: of the same run, or with the same inputs; a correction replaces the outputs", async () => {
  const { id, name } = await project();
  const dataset = await ok("POST", "/datasets", { name: `d ${name}` });
  const { id: ruleId } = await rule({
    session_id: id,
    add_to_dataset_id: dataset.id,
    add_to_dataset_prefer_correction: true,
    filter: 'eq(feedback_key, "bad")',
  });
  const twins = await runs(name, 2, { inputs: { question: "same" } });
  const [other] = await runs(name, 1);
  for (const run of [...twins, other!]) {
    await ok("POST", "/feedback", { run_id: run.id, key: "bad", score: 0, correction: { answer: "right" } });
  }
  const entries = await settled(ruleId as string, 3);
  expect(entries.map((entry) => entry.add_to_dataset.outcome).sort()).toEqual(["skipped", "success", "success"]);
  expect(entries.find((entry) => entry.status === "skipped").reason).toMatch(/has the same inputs/);
  const examples: Json[] = await ok("GET", `/examples?dataset=${dataset.id}`);
  expect(examples.map((example) => example.outputs)).toEqual([{ answer: "right" }, { answer: "right" }]);
});

test("runs whose texts have characters that Postgres does not store are acted on", async () => {
  const { id, name } = await project();
  const queue = await ok("POST", "/annotation-queues", { name: "hostile" });
  const dataset = await ok("POST", "/datasets", { name: `d ${name}` });
  const hostile = "a\0b\ud800";
  const { id: ruleId } = await rule({
    session_id: id,
    add_to_annotation_queue_id: queue.id,
    add_to_dataset_id: dataset.id,
    dataset_mapping: { inputs: { [hostile]: "inputs.question" }, metadata: { tags: "tags", name: "name" } },
    add_tags: [hostile],
    add_feedback: [{ key: "k", value: hostile, comment: hostile }],
  });
  const texts = { name: hostile, error: hostile, tags: [hostile], inputs: { question: { [hostile]: hostile } } };
  await runs(name, 2, { ...texts, extra: { metadata: { thread_id: hostile } } } as Partial<SampleRun>);
  const found = await settled(ruleId, 2);
  expect(found.map(({ status }) => status)).toEqual(["done", "done"]);
  // their inputs are the same
  expect(found.map(({ reason }) => reason)).toEqual(
    expect.arrayContaining([null, expect.stringContaining("same inputs")]),
  );
  const [example] = (await ok("GET", `/examples?dataset=${dataset.id}`)) as Json[];
  expect(example.inputs).toEqual({ "a\uFFFDb\uFFFD": { "a\uFFFDb\uFFFD": "a\uFFFDb\uFFFD" } });
});

test("a failed action is named, other actions are kept, and a retry repeats the failed one only", async () => {
  const { id, name } = await project();
  const dataset = await ok("POST", "/datasets", {
    name: `d ${name}`,
    inputs_schema_definition: { type: "object", required: ["must"] },
  });
  const queue = await ok("POST", "/annotation-queues", { name: "kept" });
  const { id: ruleId } = await rule({
    session_id: id,
    add_to_dataset_id: dataset.id,
    add_to_annotation_queue_id: queue.id,
  });
  const [bad] = await runs(name, 1);
  const [good] = await runs(name, 1, { inputs: { must: 1 } });
  const entries = await settled(ruleId as string, 2);
  const failure = entries.find((entry) => entry.run_id === bad!.id);
  expect(failure).toMatchObject({
    status: "failed",
    reason: expect.stringMatching(/add_to_dataset: .*schema of the dataset/),
    add_to_annotation_queue: { outcome: "success" },
    add_to_dataset: { outcome: "error" },
  });
  expect(entries.find((entry) => entry.run_id === good!.id)).toMatchObject({ status: "done" });
  expect((await call("POST", `/runs/rules/${ruleId}/logs/${good!.id}/retry`)).status).toBe(409);
  expect((await call("POST", `/runs/rules/${ruleId}/logs/${randomUUID()}/retry`)).status).toBe(404);
  await ok("DELETE", `/annotation-queues/${queue.id}/runs/${bad!.id}`).catch(() => {});
  await ok("PATCH", `/datasets/${dataset.id}`, { inputs_schema_definition: null });
  await ok("POST", `/runs/rules/${ruleId}/logs/${bad!.id}/retry`);
  const after = await settled(ruleId as string, 2);
  expect(after.map((entry) => entry.status)).toEqual(["done", "done"]);
});

test("matches of a rule that was disabled or whose run was deleted are skipped, with the reason", async () => {
  const { id, name } = await project();
  const { id: ruleId } = await rule({ session_id: id, add_tags: ["t"] });
  await sql`update rule_matches set status = 'done' where status = 'pending'`;
  const match = async (runId: string) =>
    sql`insert into rule_matches (tenant_id, rule_id, run_id, match_id, project_id, trace_id, start_time, is_backfill,
          status, available_at)
        select tenant_id, rule_id, ${runId}, ${randomUUID()}, ${id}, ${runId}, now(), false, 'pending',
          now() + interval '2 seconds' from rules where rule_id = ${ruleId}`;
  await match(randomUUID());
  const [gone] = await settled(ruleId as string, 1);
  expect(gone).toMatchObject({ status: "skipped", reason: "The run was deleted before the rule acted on it." });
  await match(randomUUID());
  await ok("PATCH", `/runs/rules/${ruleId}`, { is_enabled: false });
  const entries = await settled(ruleId as string, 2);
  expect(entries[0].reason).toMatch(/rule was disabled/);
  void name;
});

test("a preview counts what the rule matches: runs that have ended, and of threads and traces what their roots say", async () => {
  const { id, name } = await project();
  const inThread = (thread: string) => ({ start_time: recent(), extra: { metadata: { thread_id: thread } } });
  const root = sampleRun(name, { ...inThread("t1"), name: "agent" });
  const elsewhere = sampleRun(name, { start_time: recent() });
  const head = sampleRun(name, { ...inThread("t2"), name: "agent" }, { parent: elsewhere });
  const running = sampleRun(name, { ...inThread("t3"), name: "agent" }, { seconds: null });
  await sendRuns(call, [root, head, running]);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const preview = async (body: object) => {
    const { runs, threads } = await ok("POST", "/runs/rules/preview", {
      session_id: id,
      backfill_from: since,
      ...body,
    });
    return { runs, threads };
  };
  expect(await preview({ group_by: "thread_id" })).toEqual({ runs: 1, threads: 1 });
  expect(await preview({ trace_filter: 'eq(name, "agent")' })).toEqual({ runs: 1, threads: null });
  expect(await preview({ filter: 'eq(name, "agent")' })).toEqual({ runs: 2, threads: null });
  const { id: ruleId } = await rule({
    session_id: id,
    filter: 'eq(name, "agent")',
    backfill_from: since,
    add_tags: ["t"],
  });
  expect((await settled(ruleId as string, 2)).map((entry) => entry.run_id)).toEqual(
    expect.arrayContaining([root.id, head.id]),
  );
});

test("a back-fill decides about a thread as of its last turn, as the rule does of new ones", async () => {
  const { id, name } = await project();
  const body = { session_id: id, filter: 'eq(name, "asked")', group_by: "thread_id", add_tags: ["t"] };
  const { id: live } = await rule(body);
  const extra = { metadata: { thread_id: "long" } };
  const [asked] = await runs(name, 1, { name: "asked", extra });
  const [last] = await runs(name, 1, { name: "answered", extra });
  await runs(name, 1, { name: "answered", extra: { metadata: { thread_id: "other" } } });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect(
    await ok("POST", "/runs/rules/preview", { session_id: id, filter: body.filter, group_by: body.group_by }),
  ).toMatchObject({
    runs: 1,
    threads: 1,
    sample: [{ id: asked!.id }],
  });
  const { id: filled } = await rule({ ...body, backfill_from: since });
  await vi.waitFor(async () => {
    const [backfill] = await ok("GET", `/runs/rules/${filled}/backfills`);
    expect(backfill).toMatchObject({ status: "completed", done: 2, total: 2 });
    const waiting = await sql`select 1 from rule_candidates where rule_id = ${filled}`;
    expect(waiting).toHaveLength(0);
  }, 10_000);
  for (const ruleId of [live, filled]) {
    await ok("POST", `/runs/rules/${ruleId}/trigger`);
    expect(await settled(ruleId as string, 1)).toMatchObject([{ run_id: last!.id, status: "done" }]);
  }
});

test("a transient rule on threads acts on the threads of its back-fill", async () => {
  const { id, name } = await project();
  const [turn] = await runs(name, 1, { extra: { metadata: { thread_id: "once" } } });
  const body = { session_id: id, group_by: "thread_id", add_tags: ["t"], transient: true };
  const { id: ruleId } = await rule({ ...body, backfill_from: new Date(Date.now() - 3_600_000).toISOString() });
  await vi.waitFor(async () => {
    expect(await sql`select 1 from rule_threads where rule_id = ${ruleId}`).toHaveLength(1);
  }, 10_000);
  await sql`update rule_threads set due_at = now() where rule_id = ${ruleId}`;
  expect(await settled(ruleId as string, 1)).toMatchObject([{ run_id: turn!.id, status: "done", is_backfill: true }]);
});

test("a back-fill is previewed, acts on older runs once, and continues at its cursor", async () => {
  const { id, name } = await project();
  const old = await runs(name, 25, { name: "old", error: "boom" });
  await runs(name, 5, { name: "fine" });
  const filter = 'eq(status, "error")';
  const body = {
    session_id: id,
    filter,
    sampling_rate: 1,
    backfill_from: new Date(Date.now() - 3_600_000).toISOString(),
  };
  const preview = await ok("POST", "/runs/rules/preview", { ...body, sampling_rate: 0.4 });
  expect(preview).toMatchObject({ runs: 25, estimated_actions: 10, estimated_cost_usd: null, cost_basis: "none" });
  expect(preview.sample).toHaveLength(10);
  expect((await call("POST", "/runs/rules/preview", { ...body, filter: "eq(" })).status).toBe(422);
  expect((await call("POST", "/runs/rules/preview", { session_id: randomUUID() })).status).toBe(404);
  const queue = await ok("POST", "/annotation-queues", { name: "filled" });
  const { id: ruleId } = await rule({ ...body, add_to_annotation_queue_id: queue.id, transient: true });
  const entries = await settled(ruleId as string, 25);
  expect(entries.every((entry) => entry.is_backfill)).toBe(true);
  expect(new Set(entries.map((entry) => entry.run_id))).toEqual(new Set(old.map((run) => run.id)));
  expect((await ok("GET", `/annotation-queues/${queue.id}`)).total_runs ?? 25).toBe(25);
  await vi.waitFor(async () => {
    const [listed] = await ok("GET", `/runs/rules?id=${ruleId}&include_backfill_progress=true`);
    expect(listed).toMatchObject({ backfill_status: "completed", backfill_progress: 1, transient: true });
  }, 10_000);
  const [backfill] = await ok("GET", `/runs/rules/${ruleId}/backfills`);
  expect(backfill).toMatchObject({ status: "completed", done: 25, total: 25 });
  expect((await call("POST", `/runs/rules/${ruleId}/backfills/${backfill.backfill_id}/cancel`)).status).toBe(409);
  // again: nothing is done twice
  await ok("POST", `/runs/rules/${ruleId}/trigger`, { run_ids: old.slice(0, 3).map((run) => run.id) });
  await new Promise((done) => setTimeout(done, 1000));
  expect(await log(ruleId as string)).toHaveLength(25);
});

test("a trigger lets a rule decide about runs from before it, and about the runs while it was disabled", async () => {
  const { id, name } = await project();
  const [before] = await runs(name, 1);
  const { id: ruleId } = await rule({ session_id: id, add_tags: ["t"] });
  await ok("POST", `/runs/rules/${ruleId}/trigger`, { run_ids: [before!.id] });
  await settled(ruleId as string, 1);
  expect((await call("POST", `/runs/rules/${ruleId}/trigger`, { run_ids: [randomUUID()] })).status).toBe(404);
  expect((await call("POST", `/runs/rules/${randomUUID()}/trigger`)).status).toBe(404);
  expect(await ok("POST", "/runs/rules/trigger", { rule_ids: [ruleId] })).toEqual({ rule_ids: [ruleId] });
});

test("the log is paged by cursor", async () => {
  const { id, name } = await project();
  const { id: ruleId } = await rule({ session_id: id, extend_only: true });
  await runs(name, 5);
  await settled(ruleId as string, 5);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Json = await ok("GET", `/runs/rules/${ruleId}/logs/v2?limit=2${cursor ? `&cursor=${cursor}` : ""}`);
    seen.push(...page.logs.map((entry: Json) => entry.run_id));
    cursor = page.cursor;
    expect(page.has_more).toBe(cursor !== null);
  } while (cursor !== null);
  expect(new Set(seen).size).toBe(5);
  expect((await call("GET", `/runs/rules/${ruleId}/logs/v2?cursor=x`)).status).toBe(400);
  expect((await call("GET", `/runs/rules/${randomUUID()}/logs`)).status).toBe(404);
  expect(await log(ruleId as string, "&status=failed")).toEqual([]);
});

test("a waiting webhook is sent with the headers of its own URL, and not at all after it was removed", async () => {
  let isUp = false;
  const earlier = await receiver((response) => response.writeHead(isUp ? 200 : 500).end());
  const later = await receiver();
  const { id, name } = await project();
  const { id: ruleId } = await rule({
    session_id: id,
    webhooks: [{ url: earlier.url, headers: { "x-token": "earlier" } }],
  });
  await runs(name, 1);
  await vi.waitFor(() => expect(earlier.received.length).toBeGreaterThan(0), 10_000);
  const kept = { url: earlier.url, headers: { "x-token": "••••••••" } };
  const added = { url: later.url, headers: { "x-token": "later" } };
  const body = { display_name: name, session_id: id, sampling_rate: 1 };
  await ok("PATCH", `/runs/rules/${ruleId}`, { ...body, webhooks: [added, kept] });
  const sent = earlier.received.length;
  await vi.waitFor(() => expect(earlier.received.length).toBeGreaterThan(sent + 1), 20_000);
  expect(earlier.received.at(-1)!.headers).toMatchObject({ "x-token": "earlier" });
  await ok("PATCH", `/runs/rules/${ruleId}`, { ...body, webhooks: [added] });
  isUp = true;
  const before = earlier.received.length;
  await vi.waitFor(async () => {
    const [delivery] = (await log(ruleId as string))[0].deliveries;
    expect(delivery).toMatchObject({ status: "failed", error: "The rule has this webhook no more." });
  }, 20_000);
  // an attempt may have begun before
  expect(earlier.received.length - before).toBeLessThanOrEqual(1);
  expect(earlier.received.map(({ headers }) => headers["x-token"])).not.toContain("later");
});

test("a slow receiver does not delay another one", async () => {
  const slow = await receiver(() => {});
  const fast = await receiver();
  const { id, name } = await project();
  await rule({ session_id: id, webhooks: [{ url: slow.url }] });
  await rule({ session_id: id, webhooks: [{ url: fast.url }] });
  const startedAt = Date.now();
  await runs(name, 20);
  await vi.waitFor(() => expect(fast.received).toHaveLength(20), 10_000);
  expect(Date.now() - startedAt).toBeLessThan(9000);
  expect(new Set(fast.received.map((message) => message.json.event_id)).size).toBe(20);
});
