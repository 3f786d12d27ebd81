/** Matching of rules against runs as they are ingested, on real stores. */
import { randomBytes } from "node:crypto";

import { Registry } from "prom-client";
import { beforeEach, expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { unavailable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { CREATED } from "../ingest/patched-fields.ts";
import { RunWriter } from "../ingest/run-writer.ts";
import { RuleCandidates } from "../rule-candidates/rule-candidates.ts";
import { findRunKeys, insertRunKeys, insertRuns } from "../run-rows/clickhouse.ts";
import { hashShare } from "../rule-candidates/sampling.ts";
import { pruneMatches } from "./match-sql.ts";

const { call, sql, platform, clickhouse } = await testTracePlatform();
const { ruleCandidates } = platform.deps;

const [start, end] = ["2026-11-21T10:00:00.000001Z", "2026-11-21T10:00:01.000000Z"];

interface RuleFields {
  filter?: string | null;
  trace_filter?: string | null;
  tree_filter?: string | null;
  sampling_rate?: number;
  project_id?: string | null;
  dataset_id?: string | null;
  group_by?: string | null;
  idle_seconds?: number;
  active_from?: string;
}

async function addRule(fields: RuleFields = {}): Promise<string> {
  const id = uuid7();
  await sql`
    insert into rules (tenant_id, rule_id, display_name, is_enabled, project_id, dataset_id, sampling_rate, filter,
      trace_filter, tree_filter, group_by, idle_seconds, actions, active_from)
    values (${WORKSPACE}, ${id}, 'r', true, ${fields.project_id ?? null}, ${fields.dataset_id ?? null},
      ${fields.sampling_rate ?? 1}, ${fields.filter ?? null}, ${fields.trace_filter ?? null},
      ${fields.tree_filter ?? null}, ${fields.group_by ?? null}, ${fields.idle_seconds ?? 300}, '{}',
      ${fields.active_from ?? "2020-01-01"}::text::timestamptz)`;
  ruleCandidates.directory.forget();
  return id;
}

const matches = async (rule: string) =>
  (
    await sql<{ run_id: string; status: string }[]>`
      select run_id, status from rule_matches where rule_id = ${rule} order by run_id`
  ).map((row) => (/pending|done/.test(row.status) ? row.run_id : `${row.run_id} ${row.status}`));

/** Resolves when all recorded runs have been evaluated. */
async function settled(): Promise<void> {
  platform.deps.ruleMatcher.wake();
  await expect.poll(async () => (await sql`select 1 from rule_candidates limit 1`).length, { timeout: 15_000 }).toBe(0);
}

let n = 0;
const create = (more: object = {}) => {
  const id = uuid7();
  const trace = { trace_id: id, dotted_order: `20261121T100000000001Z${id}` };
  const session_name = `project-${n}`;
  return { id, ...trace, session_name, name: "chat", run_type: "chain", start_time: start, ...more };
};
type Run = ReturnType<typeof create> & { parent_run_id?: string };
const child = (parent: Run, more: object = {}): Run => {
  const run = create();
  const dotted_order = `${parent.dotted_order}.20261121T100000000002Z${run.id}`;
  return { ...run, trace_id: parent.trace_id, parent_run_id: parent.id, dotted_order, ...more };
};
const patch = ({ id, trace_id, dotted_order }: Run, more: object) => ({ id, trace_id, dotted_order, ...more });

beforeEach(async () => {
  n += 1;
  await sql`delete from rules`;
  await sql`delete from rule_candidates`;
  ruleCandidates.directory.forget();
});

const send = async (post: object[], patched: object[] = []) =>
  expect((await call("POST", "/runs/batch", { post, patch: patched })).status).toBe(202);

test("matches runs when they end, by their current state, once ever", async () => {
  const [all, errors, late] = [
    await addRule(),
    await addRule({ filter: "neq(error, null)" }),
    await addRule({ filter: 'has(tags, "late")' }),
  ];
  const [whole, pending, failed] = [create({ end_time: end }), create(), create()];
  await send([whole, pending, failed]);
  await settled();
  expect(await matches(all)).toEqual([whole.id]);
  await send([], [patch(failed, { end_time: end, error: "no" }), patch(pending, { outputs: { a: 1 } })]);
  await settled();
  expect(await matches(all)).toEqual([whole.id, failed.id].sort());
  expect(await matches(errors)).toEqual([failed.id]);
  // a late patch, and the same again
  for (let i = 0; i < 2; i++) await send([whole], [patch(whole, { tags: ["late"] })]);
  await settled();
  expect(await matches(late)).toEqual([whole.id]);
  expect(await matches(all)).toEqual([whole.id, failed.id].sort());
});

test("matches heads and whole traces again when a later run of the trace is written", async () => {
  const roots = await addRule({ filter: "eq(is_root, true)" });
  const tree = await addRule({ filter: "eq(is_root, true)", tree_filter: 'eq(name, "tool")' });
  const within = await addRule({ filter: 'eq(name, "tool")', trace_filter: 'has(tags, "vip")' });
  const costly = await addRule({ filter: "and(eq(is_root, true), gt(total_tokens, 50))" });
  const root = create({ end_time: end });
  await send([root]);
  await settled();
  expect([await matches(roots), await matches(tree), await matches(costly)]).toEqual([[root.id], [], []]);
  const usage = { usage_metadata: { input_tokens: 60, output_tokens: 1, total_tokens: 61 } };
  const tool = child(root, { name: "tool", end_time: end });
  const llm = child(root, { name: "llm", run_type: "llm", end_time: end, outputs: usage });
  await send([tool, llm]);
  await settled();
  expect([await matches(tree), await matches(costly)]).toEqual([[root.id], [root.id]]);
  expect(await matches(within)).toEqual([]);
  await send([], [patch(root, { tags: ["vip"] })]);
  await settled();
  expect(await matches(within)).toEqual([tool.id]);
  expect(await matches(roots)).toEqual([root.id]);
});

test("a run does not decide about its trace in the place of a root that has not arrived", async () => {
  const within = await addRule({ filter: 'eq(name, "tool")', trace_filter: 'has(tags, "vip")' });
  const costly = await addRule({ filter: "gt(total_tokens, 100)" });
  const root = create({ end_time: end });
  const usage = (tokens: number) => ({
    usage_metadata: { input_tokens: tokens, output_tokens: 0, total_tokens: tokens },
  });
  const tool = child(root, { name: "tool", tags: ["vip"], end_time: end });
  const calls = [60, 61].map((tokens) =>
    child(tool, { trace_id: root.id, run_type: "llm", end_time: end, outputs: usage(tokens) }),
  );
  await send([tool, ...calls]);
  await settled();
  expect([await matches(within), await matches(costly)]).toEqual([[], []]);
  await send([root]);
  await settled();
  expect([await matches(within), await matches(costly)]).toEqual([[], [root.id]]);
  await send([], [patch(root, { tags: ["vip"] })]);
  await settled();
  expect(await matches(within)).toEqual([tool.id]);
});

test("ignores runs from before the rule, but for its own candidates", async () => {
  const active_from = new Date(Date.now() + 3_600_000).toISOString();
  const other = await addRule();
  const rule = await addRule({ active_from });
  const run = create({ end_time: end });
  await send([run]);
  await settled();
  expect([await matches(rule), await matches(other)]).toEqual([[], [run.id]]);
  const [key] = await sql<{ project_id: string }[]>`select project_id from rule_matches where run_id = ${run.id}`;
  await sql`
    insert into rule_candidates (tenant_id, project_id, run_id, trace_id, start_time, rule_id)
    values (${WORKSPACE}, ${key!.project_id}, ${run.id}, ${run.trace_id}, ${start}::text::timestamptz, ${rule})`;
  await settled();
  expect(await matches(rule)).toEqual([run.id]);
  expect(await sql`select is_backfill from rule_matches where rule_id = ${rule}`).toMatchObject([
    { is_backfill: true },
  ]);
});

test("rules of a project, of a dataset's experiments, and never of an evaluator's traces", async () => {
  const dataset = (await call("POST", "/datasets", { name: `d-${uuid7()}` })).json.id as string;
  const project = async (more: object) =>
    (await call("POST", "/sessions", { name: `p-${uuid7()}`, ...more })).json as { id: string; name: string };
  const [plain, experiment, internal] = [
    await project({}),
    await project({ reference_dataset_id: dataset }),
    await project({}),
  ];
  await sql`update projects set of_evaluators = true where project_id = ${internal.id}`;
  const [own, of, any] = [
    await addRule({ project_id: plain.id }),
    await addRule({ dataset_id: dataset }),
    await addRule(),
  ];
  const runs = [plain, experiment, internal].map(({ id }) =>
    create({ session_name: undefined, session_id: id, end_time: end }),
  );
  await send(runs);
  await settled();
  expect(await matches(own)).toEqual([runs[0]!.id]);
  expect(await matches(of)).toEqual([runs[1]!.id]);
  expect(await matches(any)).toEqual([runs[0]!.id, runs[1]!.id].sort());
});

test("feedback makes runs match, and a run that is evaluated later sees it", async () => {
  const rule = await addRule({ filter: 'and(eq(feedback_key, "user"), lt(feedback_score, 0.5))' });
  const [run, later] = [create({ end_time: end }), create({ end_time: end })];
  await send([run]);
  const rate = (id: string, score: number) => call("POST", "/feedback", { run_id: id, key: "user", score });
  await rate(run.id, 1);
  await rate(later.id, 0);
  await settled();
  expect(await matches(rule)).toEqual([]);
  await rate(run.id, 0);
  await expect.poll(() => matches(rule), { timeout: 10_000 }).toEqual([run.id]);
  await send([later]);
  await settled();
  expect(await matches(rule)).toEqual([run.id, later.id].sort());
});

test("samples by a hash of rule and trace", async () => {
  const rule = await addRule({ sampling_rate: 0.5 });
  const runs = Array.from({ length: 60 }, () => create({ end_time: end }));
  await send(runs);
  await settled();
  const sampled = runs.filter(({ trace_id }) => hashShare(rule, trace_id) < 0.5).map((run) => run.id);
  expect(await matches(rule)).toEqual(sampled.sort());
  expect(sampled.length).toBeGreaterThan(12);
  expect(sampled.length).toBeLessThan(48);
});

test("threads are matched once idle, and again after more activity", async () => {
  const rule = await addRule({ filter: "neq(error, null)", group_by: "thread_id", idle_seconds: 1 });
  const turn = (thread: string, second: number, more: object = {}) =>
    create({
      start_time: `2026-11-21T10:00:0${second}.000001Z`,
      end_time: end,
      extra: { metadata: { thread_id: thread } },
      ...more,
    });
  const [first, second, other] = [turn("a", 1, { error: "no" }), turn("a", 2), turn("b", 1)];
  await send([first, second, other]);
  await settled();
  expect(await matches(rule)).toEqual([]);
  await expect.poll(() => matches(rule), { timeout: 10_000 }).toEqual([second.id]);
  const third = turn("a", 3);
  await send([third]);
  await expect.poll(() => matches(rule), { timeout: 10_000 }).toEqual([second.id, third.id].sort());
  expect(await sql`select distinct thread_id from rule_matches where rule_id = ${rule}`).toEqual([{ thread_id: "a" }]);
});

test("a rule whose filter fails is disabled with the reason, and the others go on", async () => {
  const [broken, good] = [await addRule({ filter: "nonsense(" }), await addRule()];
  const run = create({ end_time: end });
  await send([run]);
  await settled();
  expect(await matches(good)).toEqual([run.id]);
  const [row] = await sql`select is_enabled, disabled_reason from rules where rule_id = ${broken}`;
  expect(row).toEqual({ is_enabled: false, disabled_reason: expect.stringContaining("could not be evaluated") });
});

test("without rules no run is recorded", async () => {
  await send([create({ end_time: end })]);
  expect(await sql`select 1 from rule_candidates`).toHaveLength(0);
});

test("a change of the tier alone is no reason to evaluate a run", async () => {
  await addRule();
  const run = create({ end_time: end });
  await send([run]);
  await settled();
  const before = await sql`select last_value from rule_candidates_candidate_id_seq`;
  const fields = { trace_tier: "longlived" };
  const received_at = "2026-11-21 10:00:00.000000";
  await platform.deps.writer.write(WORKSPACE, [{ kind: "patch", id: run.id, fields, attachments: [], received_at }]);
  expect(await sql`select last_value from rule_candidates_candidate_id_seq`).toEqual(before);
});

test("decisions are deleted with their trace and with their project", async () => {
  const rule = await addRule();
  const [gone, stays] = [create({ end_time: end }), create({ end_time: end })];
  await send([gone, stays]);
  await settled();
  expect(await matches(rule)).toHaveLength(2);
  const [{ session_id }] = (await call("POST", "/runs/query", { id: [gone.id] })).json.runs as [{ session_id: string }];
  const deleted = await call("POST", "/runs/delete", { session_id, trace_ids: [gone.trace_id] });
  expect(deleted.status).toBeLessThan(300);
  await expect.poll(() => matches(rule)).toEqual([stays.id]);
  await call("DELETE", `/sessions/${session_id}`);
  await expect.poll(() => matches(rule)).toEqual([]);
});

test("decisions are pruned when their run has ended long ago, and such runs are left alone", async () => {
  const rule = await addRule();
  const [old, recent] = [create({ start_time: "2026-01-01T10:00:00Z", end_time: "2026-01-01T10:00:01Z" }), create()];
  await send([old, { ...recent, end_time: end }]);
  await settled();
  expect(await matches(rule)).toEqual([recent.id]);
  await sql`update rule_matches set status = 'done', matched_at = now() - interval '91 days' where rule_id = ${rule}`;
  expect(await pruneMatches(sql, 90, 10)).toBe(0);
  await sql`update rule_matches set end_time = now() - interval '91 days' where rule_id = ${rule}`;
  expect(await pruneMatches(sql, 90, 10)).toBe(1);
});

const inThread = (thread_id: string, more: object = {}) =>
  create({ end_time: end, extra: { metadata: { thread_id } }, ...more });

test("ids of threads that Postgres does not store stop no rule", async () => {
  const [all, threads] = [await addRule(), await addRule({ group_by: "thread_id", idle_seconds: 1 })];
  const [plain, hostile, long] = [inThread("plain"), inThread("a\0b"), inThread(randomBytes(3000).toString("base64"))];
  await send([plain, hostile, long]);
  await settled();
  expect(await matches(all)).toEqual([plain.id, hostile.id, long.id].sort());
  // the id of a thread has at most 1,000 bytes
  await expect.poll(() => matches(threads), { timeout: 10_000 }).toEqual([plain.id, hostile.id].sort());
  const ids = await sql`select thread_id from rule_matches where rule_id = ${all} order by thread_id nulls last`;
  expect(ids.map((row) => row["thread_id"])).toEqual(["a\uFFFDb", "plain", null]);
});

test("a run that was stored with a null character in its thread's id matches", async () => {
  const rule = await addRule({ filter: 'has(tags, "late")' });
  const run = create({ end_time: end });
  await send([run]);
  const [key] = await findRunKeys(clickhouse, WORKSPACE, [run.id]);
  const { project_id, start_time } = key!;
  const at = { tenant_id: WORKSPACE, project_id, start_time, id: run.id, trace_id: run.id };
  await insertRuns(clickhouse, [{ ...at, updated_at: start_time, thread_id: "a\0b" }]);
  await send([], [patch(run, { tags: ["late"] })]);
  await settled();
  expect(await matches(rule)).toEqual([run.id]);
});

test("a decision that Postgres rejects is left out, and the others are stored", async () => {
  const rule = await addRule();
  const [good, bad, other] = [1, 2, 3].map(() => create({ end_time: end, name: `n-${uuid7()}` }));
  await sql.unsafe(`create function reject() returns trigger language plpgsql as
    $$ begin raise exception 'no' using errcode = '22021'; end $$`);
  await sql.unsafe(`create trigger reject before insert on rule_matches for each row
    when (new.run_id = '${bad!.id}') execute function reject()`);
  await send([good!, bad!, other!]);
  await settled();
  await sql`drop trigger reject on rule_matches`;
  expect(await matches(rule)).toEqual([good!.id, other!.id].sort());
});

test("threads that are due do not wait for a batch that fails", async () => {
  const rule = await addRule({ group_by: "thread_id", idle_seconds: 1 });
  const run = inThread("due");
  await send([run]);
  await settled();
  // a candidate that no batch can take away
  await sql.unsafe(`create function keep() returns trigger language plpgsql as
    $$ begin raise exception 'no' using errcode = '55000'; end $$`);
  await sql`create trigger keep before delete on rule_candidates execute function keep()`;
  try {
    await addRule();
    await send([create({ end_time: end })]);
    await expect.poll(() => matches(rule), { timeout: 10_000 }).toEqual([run.id]);
  } finally {
    await sql`drop trigger keep on rule_candidates`;
  }
});

/** What a replica on a shared store records of a first create that has overtaken nothing as far as it knows. */
const recordElsewhere = async (run: Run, more: object = {}) => {
  const shared = new ClickHouse(clickhouse.client, { cluster: "", embedded: false });
  const other = new RuleCandidates({ sql, clickhouse: shared, registry: new Registry() });
  const [key] = await findRunKeys(clickhouse, WORKSPACE, [run.id]);
  const { project_id, start_time } = key!;
  const at = { tenant_id: WORKSPACE, project_id, start_time, id: run.id, trace_id: run.id };
  const row = { ...at, updated_at: start_time, inserted_at: start_time, patched: CREATED, ...more };
  await insertRuns(clickhouse, [row]);
  await other.record([{ row, isNew: true, isNewTrace: true, isState: false }]);
};

test("an end and a create that two servers store at the same time match together, in either order", async () => {
  const rule = await addRule({ filter: 'and(eq(name, "chat"), has(tags, "late"))', active_from: "2020-01-01" });
  // an end, known as a whole, and then the create, which knows of no end
  const [patched, whole] = [create(), create()];
  await send([], [patch(patched, { end_time: end, tags: ["late"], start_time: start, session_name: `project-${n}` })]);
  await settled();
  expect(await matches(rule)).toEqual([]);
  await recordElsewhere(patched, { name: "chat", run_type: "chain" });
  await settled();
  expect(await matches(rule)).toEqual([patched.id]);
  // a complete create, and then one with other values and no end
  await send([{ ...whole, name: "other", end_time: end }]);
  await recordElsewhere(whole, { name: "chat", run_type: "chain", tags: "\x1elate\x1e" });
  await settled();
  expect(await matches(rule)).toEqual([patched.id, whole.id].sort());
});

test("a request that is repeated because its candidates were not stored is evaluated with what it changed", async () => {
  const rule = await addRule({ filter: 'eq(thread_id, "adopted")' });
  const [root, orphan] = [create({ end_time: end }), create({ end_time: end })];
  const agent = child(orphan, { end_time: end });
  const named = (parent: Run) => child(parent, { end_time: end, extra: { metadata: { thread_id: "adopted" } } });
  const children = [named(root), { ...named(agent), trace_id: agent.trace_id }];
  await send([root, agent]);
  await settled();
  const { projects, prices } = platform.deps;
  const failing = new RunWriter({
    ...platform.deps,
    projects,
    prices,
    ruleCandidates: { record: () => Promise.reject(unavailable("no", 1)) },
    registry: new Registry(),
  });
  const { writer } = platform.deps;
  platform.deps.writer = failing;
  expect((await call("POST", "/runs/batch", { post: children, patch: [] })).status).toBe(503);
  platform.deps.writer = writer;
  await writer.forget({ traces: [] });
  await send(children);
  await settled();
  expect(await matches(rule)).toEqual([root.id, agent.id, ...children.map((run) => run.id)].sort());
});

test("a run of which a killed server has only stored the key matches", async () => {
  const rule = await addRule();
  const run = create({ end_time: end });
  const project_id = await platform.deps.projects.ensureProject(WORKSPACE, `project-${n}`);
  const at = { tenant_id: WORKSPACE, id: run.id, project_id, trace_id: run.id, deleted: false };
  const time = "2026-11-21 10:00:00.000001";
  await insertRunKeys(clickhouse, [{ ...at, start_time: time, version: time }]);
  const again = new RunWriter({ ...platform.deps, registry: new Registry() });
  const { writer } = platform.deps;
  platform.deps.writer = again;
  await send([run]);
  platform.deps.writer = writer;
  // an update of such a run, before its create is repeated
  const patched = create();
  await insertRunKeys(clickhouse, [{ ...at, id: patched.id, trace_id: patched.id, start_time: time, version: time }]);
  await send([], [patch(patched, { end_time: end })]);
  await send([patched]);
  await again.stop();
  await settled();
  expect(await matches(rule)).toEqual([run.id, patched.id].sort());
});

test("a complete create that is repeated with other values after it was forgotten is not judged alone", async () => {
  const rule = await addRule({ filter: 'and(has(tags, "early"), neq(error, null))' });
  const run = create({ end_time: end });
  await send([{ ...run, tags: ["early"] }]);
  await platform.deps.writer.forget({ traces: [] });
  await send([{ ...run, error: "no" }]);
  await settled();
  expect(await matches(rule)).toEqual([run.id]);
});

test("a rule on the tier sees that a run moves to the longer one", async () => {
  const rule = await addRule({ filter: 'eq(trace_tier, "longlived")' });
  const tree = await addRule({ filter: "eq(is_root, true)", tree_filter: 'eq(trace_tier, "longlived")' });
  const run = create({ end_time: end });
  await call("POST", "/sessions", { name: run.session_name, trace_tier: "shortlived" });
  await send([run]);
  await settled();
  expect([await matches(rule), await matches(tree)]).toEqual([[], []]);
  await call("POST", "/feedback", { run_id: run.id, key: "user", score: 1 });
  await expect.poll(() => matches(rule), { timeout: 10_000 }).toEqual([run.id]);
  await expect.poll(() => matches(tree), { timeout: 10_000 }).toEqual([run.id]);
});

test("runs of a trace in another project decide nothing, whatever is evaluated together", async () => {
  const tree = await addRule({ filter: "eq(is_root, true)", tree_filter: 'eq(name, "tool")' });
  const costly = await addRule({ filter: "and(eq(is_root, true), gt(total_tokens, 50))" });
  const usage = { usage_metadata: { input_tokens: 60, output_tokens: 1, total_tokens: 61 } };
  const root = create({ end_time: end });
  const tool = child(root, { name: "tool", end_time: end, session_name: `other-${n}` });
  const llm = child(root, { run_type: "llm", end_time: end, outputs: usage, session_name: `other-${n}` });
  await send([root, tool, llm]);
  await send(
    [],
    [root, tool, llm].map((run) => patch(run, { tags: ["again"] })),
  );
  await settled();
  expect([await matches(tree), await matches(costly)]).toEqual([[], []]);
});

test("a candidate whose row is not visible at a replica stays until it is", async () => {
  const rule = await addRule({ filter: 'has(tags, "late")' });
  const run = create({ end_time: end });
  const pending = () => sql`select written_at from rule_candidates`;
  await send([run]);
  await settled();
  const [key] = await findRunKeys(clickhouse, WORKSPACE, [run.id]);
  const at = { tenant_id: WORKSPACE, project_id: key!.project_id, start_time: key!.start_time, id: run.id };
  const updated_at = `${new Date(Date.now() + 5000).toISOString().slice(0, -1).replace("T", " ")}000`;
  const row = { ...at, trace_id: run.id, updated_at, tags: "\x1elate\x1e" };
  const replicated = new ClickHouse(clickhouse.client, { cluster: "c", embedded: false });
  const other = new RuleCandidates({ sql, clickhouse: replicated, registry: new Registry() });
  const state = { isNew: false, isNewTrace: false, isState: true };
  await other.record([{ row, ...state }]);
  platform.deps.ruleMatcher.wake();
  await new Promise((done) => setTimeout(done, 1500));
  expect([await matches(rule), await pending()]).toEqual([[], [{ written_at: expect.any(Date) }]]);
  await insertRuns(clickhouse, [row]);
  await settled();
  expect(await matches(rule)).toEqual([run.id]);
  // a row that never becomes visible is not awaited for ever
  await other.record([{ row: { ...row, updated_at: "2199-01-01 00:00:00.000000" }, ...state }]);
  await sql`update rule_candidates set recorded_at = now() - interval '2 minutes'`;
  await settled();
});

test("a run whose update overtakes its create is evaluated with the create, or after a minute", async () => {
  const queue = await addRule({ filter: 'neq(name, "excluded")' });
  const tree = await addRule({ filter: "eq(error, null)", tree_filter: 'not(has(tags, "x"))' });
  const located = (run: ReturnType<typeof create>, more: object) => {
    const { session_name, start_time } = run;
    return { ...patch(run, more), session_name, start_time };
  };
  const excluded = create({ name: "excluded", tags: ["x"] });
  const included = create({ name: "included" });
  const alone = create();
  const runs = [excluded, included, alone];
  await send(
    [],
    runs.map((run) => located(run, { end_time: end })),
  );
  await new Promise((done) => setTimeout(done, 1500));
  expect([await matches(queue), await matches(tree)]).toEqual([[], []]);
  await send([excluded, included]);
  const waiting = async () => (await sql`select run_id from rule_candidates`).map((row) => row["run_id"]);
  await expect.poll(waiting, { timeout: 10_000 }).toEqual(expect.arrayContaining([alone.id]));
  await expect.poll(async () => new Set(await waiting()), { timeout: 10_000 }).toEqual(new Set([alone.id]));
  expect([await matches(queue), await matches(tree)]).toEqual([[included.id], [included.id]]);
  await sql`update rule_candidates set recorded_at = now() - interval '2 minutes'`;
  await settled();
  expect((await matches(queue)).toSorted()).toEqual([included.id, alone.id].toSorted());
});

test("a run that was not sampled when it was asked for matches by a higher rate", async () => {
  const rule = await addRule({ sampling_rate: 0 });
  const run = create({ end_time: end });
  await send([run]);
  const [{ session_id }] = (await call("POST", "/runs/query", { id: [run.id] })).json.runs as [{ session_id: string }];
  const ask = () => sql`
    insert into rule_candidates (tenant_id, project_id, run_id, trace_id, start_time, rule_id)
    values (${WORKSPACE}, ${session_id}, ${run.id}, ${run.trace_id}, ${start}::text::timestamptz, ${rule})`;
  await ask();
  await settled();
  expect(await matches(rule)).toEqual([`${run.id} skipped`]);
  await sql`update rules set sampling_rate = 1 where rule_id = ${rule}`;
  await ask();
  await settled();
  expect(await matches(rule)).toEqual([run.id]);
});

test("the rules of more projects than are cached are found", async () => {
  const rule = await addRule();
  const made = await sql<{ id: string }[]>`
    insert into projects (tenant_id, project_id, name)
    select ${WORKSPACE}, gen_random_uuid(), 'many ' || n from generate_series(1, 10001) n returning project_id as id`;
  const ids = new Set(made.map(({ id }) => id));
  const found = (await ruleCandidates.directory.find(new Map([[WORKSPACE, ids]]))).get(WORKSPACE)!;
  expect(found.size).toBe(10_001);
  expect(found.get(made[0]!.id)).toMatchObject([{ rule_id: rule }]);
});

test("a run that is the last of two threads is decided about once", async () => {
  const rule = await addRule({ group_by: "thread_id", idle_seconds: 1 });
  const run = inThread("first");
  await send([run]);
  await settled();
  await send([], [patch(run, { extra: { metadata: { thread_id: "second" } } })]);
  await expect.poll(() => matches(rule), { timeout: 10_000 }).toEqual([run.id]);
});
