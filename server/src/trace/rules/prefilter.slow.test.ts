/**
 * Compares the rules' matches, for which only runs were evaluated that the pre-filter recorded, with an evaluation of
 * all runs: traces of every shape arrive in every order, and no match may be missing.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const { call, sql, platform } = await testTracePlatform();
const { ruleCandidates, ruleMatcher } = platform.deps;

type Rule = { filter?: string; tree_filter?: string; trace_filter?: string; group_by?: string; sampling_rate?: number };
const RULES: Rule[] = [
  { filter: "and(eq(is_root, true), neq(error, null))" },
  { filter: "and(eq(is_root, true), eq(error, null))" },
  { filter: "eq(is_root, false)" },
  { filter: 'and(eq(run_type, "llm"), neq(error, "x"))' },
  { filter: 'in(name, ["a", "tool"])' },
  { filter: 'not(eq(name, "a"))' },
  { filter: 'or(has(tags, "vip"), eq(status, "error"))' },
  { filter: 'not(has(tags, "vip"))' },
  { filter: 'has(metadata, \'{"env": "prod"}\')' },
  { filter: 'and(eq(metadata_key, "env"), neq(metadata_value, "prod"))' },
  { filter: 'gt(latency, "5s")' },
  { filter: 'and(eq(is_root, true), lte(latency, "5s"))', sampling_rate: 0.5 },
  { filter: "eq(outputs, null)" },
  { filter: 'and(eq(feedback_key, "user"), eq(feedback_score, 0))' },
  { filter: 'not(eq(feedback_key, "user"))' },
  { filter: "gt(total_tokens, 15)" },
  { filter: "and(eq(is_root, true), lt(total_tokens, 15))" },
  { filter: "and(eq(is_root, true), gt(total_cost, 0.5))" },
  { filter: "eq(is_root, true)", tree_filter: 'and(eq(run_type, "tool"), neq(error, null))' },
  { filter: 'eq(run_type, "tool")', trace_filter: 'has(tags, "vip")' },
  { filter: "eq(is_root, true)", tree_filter: "gt(total_tokens, 9)", trace_filter: 'not(eq(name, "b"))' },
  { filter: "neq(error, null)", group_by: "thread_id" },
  { filter: "eq(is_root, true)", tree_filter: 'eq(name, "tool")', group_by: "thread_id" },
];

const seconds = (n: number) => `2026-11-21T10:00:${String(n).padStart(2, "0")}.000001Z`;
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const fields = fc.record({
  name: fc.constantFrom("a", "b", "tool"),
  run_type: fc.constantFrom("chain", "llm", "tool"),
  error: maybe(fc.constantFrom("x", "y")),
  tags: maybe(fc.subarray(["vip", "new"])),
  env: maybe(fc.constantFrom("prod", "test")),
  thread: maybe(fc.constantFrom("t1", "t2", "t3")),
  lasts: fc.constantFrom(1, 8, undefined),
  tokens: maybe(fc.constantFrom(5, 10, 20)),
  cost: maybe(fc.constantFrom(0.1, 0.6)),
  hasOutputs: fc.boolean(),
  isRated: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  /** How the run arrives, and when its pieces do. */
  way: fc.constantFrom("whole", "whole", "whole", "twice", "pieces", "patch first", "tags late"),
  at: fc.nat({ max: 2 }),
  later: fc.nat({ max: 3 }),
});
const traces = fc.array(fc.array(fields, { minLength: 1, maxLength: 4 }), { minLength: 70, maxLength: 70 });

type Traces = typeof traces extends fc.Arbitrary<infer T> ? T : never;
type Message = { post: object[]; patch: object[]; feedback: object[] };

/** Spreads the pieces of the traces over seven rounds of requests. */
function arrange(sample: Traces): Message[] {
  const rounds = Array.from({ length: 7 }, (): Message => ({ post: [], patch: [], feedback: [] }));
  for (const trace of sample) {
    const rootId = uuid7();
    trace.forEach((run, n) => {
      const id = n === 0 ? rootId : uuid7();
      const own = `20261121T100000000001Z${id}`;
      const place = {
        id,
        trace_id: rootId,
        dotted_order: n === 0 ? own : `20261121T100000000001Z${rootId}.${own}`,
        ...(n > 0 && { parent_run_id: rootId }),
      };
      const metadata = { ...(run.env && { env: run.env }), ...(run.thread && n === 0 && { thread_id: run.thread }) };
      const begin = {
        ...place,
        session_name: "prefilter",
        name: run.name,
        run_type: run.run_type,
        start_time: seconds(0),
        ...(run.tags && run.way !== "tags late" && { tags: run.tags }),
        extra: { metadata },
      };
      const usage_metadata = run.tokens && {
        input_tokens: run.tokens - 1,
        output_tokens: 1,
        total_tokens: run.tokens,
        ...(run.cost && { total_cost: run.cost }),
      };
      const end = {
        ...place,
        ...(run.lasts && { end_time: seconds(run.lasts) }),
        ...(run.error && { error: run.error }),
        ...((run.hasOutputs || usage_metadata) && {
          outputs: { text: "out", ...(usage_metadata && { usage_metadata }) },
        }),
      };
      const [first, later] = [rounds[run.at]!, rounds[run.at + run.later]!];
      if (run.way === "pieces") {
        first.post.push(begin);
        later.patch.push(end);
      } else if (run.way === "patch first") {
        first.patch.push(end);
        later.post.push(begin);
      } else first.post.push({ ...begin, ...end });
      if (run.way === "twice") later.post.push({ ...begin, ...end });
      if (run.way === "tags late" && run.tags) later.patch.push({ ...place, tags: run.tags });
      if (run.isRated) rounds[run.later]!.feedback.push({ run_id: id, key: "user", score: 0 });
    });
  }
  return rounds;
}

async function settled(): Promise<void> {
  ruleMatcher.wake();
  const left = async () => {
    const [row] = await sql<{ n: number }[]>`
      select (select count(*) from rule_candidates)::int + (select count(*) from feedback_changes)::int
        + (select count(*) from waiting_pieces where kind = 'update')::int as n`;
    return row!.n;
  };
  await expect.poll(left, { timeout: 30_000 }).toBe(0);
}

const decisions = async () => {
  const matches = await sql<{ rule_id: string; id: string }[]>`
    select rule_id, run_id::text as id from rule_matches where status <> 'skipped'`;
  const threads = await sql<{ rule_id: string; id: string }[]>`
    select rule_id, thread_id || ' ' || last_run_id || ' ' || matched as id from rule_threads`;
  return new Set([...matches, ...threads].map(({ rule_id, id }) => `${ids.get(rule_id)} ${id}`));
};

const ids = new Map<string, string>();
const rule = async (fields: Rule) => {
  const id = uuid7();
  ids.set(id, JSON.stringify(fields));
  await sql`
    insert into rules (tenant_id, rule_id, display_name, is_enabled, sampling_rate, filter, trace_filter, tree_filter,
      group_by, idle_seconds, actions, active_from)
    values (${WORKSPACE}, ${id}, 'r', true, ${fields.sampling_rate ?? 1}, ${fields.filter ?? null},
      ${fields.trace_filter ?? null}, ${fields.tree_filter ?? null}, ${fields.group_by ?? null}, 3600, '{}', '2020-01-01')`;
};

test("no run that matches a rule is left out by the pre-filter", async () => {
  for (const fields of RULES) await rule(fields);
  ruleCandidates.directory.forget();
  for (const { post, patch, feedback } of arrange(fc.sample(traces, { numRuns: 1 })[0]!)) {
    const half = Math.ceil(post.length / 2);
    const requests = [
      { post: post.slice(0, half), patch: patch.filter((_, n) => n % 2 === 0) },
      { post: post.slice(half), patch: patch.filter((_, n) => n % 2 === 1) },
    ];
    await Promise.all([
      ...requests.map((body) => call("POST", "/runs/batch", body)),
      ...feedback.map((body) => call("POST", "/feedback", body)),
    ]);
  }
  await settled();
  const found = await decisions();
  const [counts] = await sql<
    { recorded: number }[]
  >`select last_value::int as recorded from rule_candidates_candidate_id_seq`;
  await sql`delete from rule_matches`;
  await sql`delete from rule_threads`;
  await recordAll();
  await settled();
  const expected = await decisions();
  expect([...expected].filter((decision) => !found.has(decision))).toEqual([]);
  expect(expected.size).toBeGreaterThan(30);
  expect(counts!.recorded).toBeGreaterThan(0);
}, 120_000);

/** Asks for the evaluation of all rules on all runs. */
async function recordAll(): Promise<void> {
  const runs = await platform.deps.clickhouse.rows<Record<string, string>>({
    name: "test",
    query: "select distinct project_id, id as run_id, trace_id, start_time from runs",
    params: {},
  });
  await sql`insert into rule_candidates ${sql(runs.map((run) => ({ ...run, tenant_id: WORKSPACE, start_time: `${run["start_time"]}Z` })))}`;
}
