import { expect, test } from "vitest";

import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { type AlertDefinition } from "../alerts/definition.ts";
import { type Observations, readObservations } from "../alerts/read-metric.ts";
import { resetHours } from "../run-facts/sql.ts";
import { FactBuilder } from "./fact-builder.ts";
import { findFacts, findTraceParts } from "../runs/fact-source.ts";
import { readFilter } from "../filter/read-filter.ts";
import { histogramOfRuns } from "../runs/histogram.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { selectPage } from "../runs/select-page.ts";
import { computeStats, METRIC_NAMES } from "../runs/stats.ts";
import { statsOfRuns } from "../runs/stats-runs.ts";
import { timelineOfRuns } from "../runs/timeline.ts";
import { readTraceRuns, sumTraces } from "../runs/trace-runs.ts";
import { findTraceTotals, type TraceTotals } from "../runs/trace-totals.ts";
import { countThreads, selectThreads } from "../threads/clickhouse.ts";
import { readManySeries } from "./read-series.ts";
import type { SeriesPoint } from "./series-point.ts";
import type { SeriesRequest } from "./series-request.ts";

const { call, platform, sql, clickhouse } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const HOUR = 3_600_000;
const FROM = Date.UTC(2026, 9, 5);
const HOURS = 12;
const builder = new FactBuilder(platform.deps);

/** Copies all hours at once, whose announcements then cover no later writes. */
async function build(): Promise<void> {
  await platform.deps.writer.forget({ traces: [] });
  await builder.build(0);
}

let seed = 4711;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed % below;
};
const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;

type Run = ReturnType<typeof sampleRun>;
/** Creates and ends of a trace, apart; children may start hours after the root. */
function sampleTrace(session: string): { create: Run; end: Partial<Run> }[] {
  const at = FROM + random(HOURS * 60) * 60_000;
  const root = sampleRun(
    session,
    {
      name: `agent ${random(3)}`,
      start_time: microseconds(at),
      tags: [`t${random(3)}`],
      extra: { metadata: { env: pick(["prod", "dev"]), thread_id: `thread ${random(9)}` } },
      ...(random(5) === 0 && { error: pick(["TimeoutError: slow", "ValueError('x')"]) }),
    },
    { seconds: 1 + random(100) / 10 },
  );
  const children = Array.from({ length: random(4) }, () =>
    sampleRun(
      session,
      {
        run_type: pick(["llm", "llm", "tool", "chain"]),
        name: `step ${random(3)}`,
        start_time: microseconds(at + random(150) * 60_000),
        extra: { metadata: { ls_model_name: pick(["m1", "m2"]) } },
        outputs: {
          usage_metadata: {
            input_tokens: random(50),
            output_tokens: 1,
            total_tokens: 1 + random(90),
            total_cost: 0.25,
          },
        },
      },
      { parent: root, seconds: random(50) / 10 },
    ),
  );
  return [root, ...children].map((run) => {
    const { end_time, outputs, error, ...create } = run as Run & Record<string, unknown>;
    const { id, trace_id, dotted_order, parent_run_id } = run as Run & { parent_run_id?: string };
    return {
      create: create as Run,
      end: { id, trace_id, dotted_order, parent_run_id, end_time, outputs, error } as Partial<Run>,
    };
  });
}

const requests = (project: string): SeriesRequest[] => {
  const base = {
    projects: [project],
    since: new Date(FROM),
    until: new Date(FROM + HOURS * HOUR + 20 * 60_000),
    stepSeconds: 7200,
  };
  const metrics = [
    "run_count",
    "error_rate",
    "latency_p99",
    "total_tokens",
    "total_cost",
    "cost_p50",
    "latency_counts",
  ] as const;
  const filters: SeriesRequest["filters"][] = [
    { runs: "traces" },
    { filter: "eq(is_root, true)" },
    { filter: 'eq(run_type, "llm")' },
    {},
    { filter: 'and(eq(is_root, true), gt(total_tokens, 60), eq(status, "success"))' },
    { filter: 'and(eq(metadata_key, "env"), eq(metadata_value, "prod"))' },
    { runs: "traces", tree_filter: 'eq(run_type, "tool")' },
    { filter: 'search("slow")' },
  ];
  const groups: SeriesRequest["group_by"][] = [
    { attribute: "name", max_groups: 2 },
    { attribute: "model" },
    { attribute: "tag" },
    { attribute: "error_kind" },
    { attribute: "feedback", path: "helpful" },
  ];
  return [
    // also across hours, and within an hour
    ...filters.flatMap((filters, i) =>
      metrics.map((metric) => ({ ...base, metric, filters, stepSeconds: [7200, 1200, 5400][i % 3]! })),
    ),
    ...groups.map((group_by) => ({
      ...base,
      metric: "run_count" as const,
      group_by,
      filters: { runs: "traces" as const },
    })),
    { ...base, metric: "thread_count", filters: { runs: "traces" } },
    { ...base, metric: "feedback", filters: { runs: "traces" } },
    { ...base, projects: undefined, metric: "total_tokens", filters: { runs: "traces" } },
  ];
};

async function readDirectly(wanted: SeriesRequest[]): Promise<string[]> {
  const deps = { ...platform.deps, settings: { ...platform.deps.settings, runCopies: false } };
  return describe(wanted, await readManySeries(deps, TENANT, wanted));
}

const describe = (wanted: SeriesRequest[], found: SeriesPoint[][]): string[] =>
  found.map((points, i) => {
    const { metric, filters, group_by } = wanted[i]!;
    const values = points.map(({ at, group, value }) => [at.toISOString().slice(11, 16), group, value]);
    return JSON.stringify([metric, filters, group_by?.attribute, values]);
  });

/** Conditions of alerts; the windows of later ticks overlap and begin within an hour. */
const conditions = [
  { attribute: "total_cost", aggregation: "sum", filter: "eq(is_root, true)" },
  { attribute: "total_tokens", aggregation: "avg", filter: 'eq(run_type, "llm")', group_by: { attribute: "model" } },
  { attribute: "error_count", aggregation: "pct", group_by: { attribute: "name" } },
  { attribute: "latency", aggregation: "p95", type: "change", threshold_multiplier: 2 },
  { attribute: "feedback_score", aggregation: "avg", feedback_key: "helpful" },
] as Partial<AlertDefinition>[];

async function observe(project: string, runCopies: boolean): Promise<string[]> {
  const deps = { ...platform.deps, settings: { ...platform.deps.settings, runCopies } };
  const ticks = { first: FROM + 4 * HOUR, count: 20, step: 25 * 60_000 };
  const none = { type: "threshold", filter: null, denominator_filter: null, feedback_key: null, group_by: null };
  const rest = { window_minutes: 200, threshold_window_minutes: null, delay_minutes: 0 };
  const text = (found: Observations) => JSON.stringify(found.map((groups) => [...groups].toSorted()));
  return Promise.all(
    conditions.map(async (condition) => {
      const definition = { ...none, ...rest, ...condition } as AlertDefinition;
      return text(await readObservations(deps, { tenant_id: TENANT, project_id: project, definition }, ticks));
    }),
  );
}

const METRICS = METRIC_NAMES.filter((name) => name !== "last_run_start_time");

/** Statistics and lists over all time. */
async function list(projects: string[], runCopies: boolean): Promise<string[]> {
  const deps = { ...platform.deps, settings: { ...platform.deps.settings, runCopies } };
  const scope = await loadScope(deps, RunScope.ofTenant(TENANT));
  const found: unknown[] = [];
  for (const selected of [projects.slice(0, 1), projects]) {
    for (const is_head of [true, undefined]) {
      for (const attribute of [undefined, "project", "thread"] as const) {
        const selection = { projects: selected, is_head };
        const request = { selection, metrics: METRICS, grouping: attribute && { attribute } };
        found.push([...(await computeStats(deps, scope, request))].toSorted());
      }
    }
  }
  const one: [string] = [projects[0]!];
  const filters = [
    'and(eq(metadata_key, "env"), eq(metadata_value, "prod"))',
    "gt(total_tokens, 60)",
    "gt(latency, 3)",
    'eq(status, "error")',
  ];
  const sorts = ["start_time", "latency", "total_tokens", "total_cost", "name", "feedback:helpful"] as const;
  for (const [i, sort] of sorts.entries()) {
    const filter = filters[i % filters.length]!;
    const selection = { projects: one, is_head: i % 2 === 0 || undefined, filters: [readFilter(filter)] };
    const page = { columns: ["r.name"], descending: sort !== "name", sort, limit: 7 };
    const first = await selectPage(deps, scope, selection, page);
    found.push(first, await selectPage(deps, scope, selection, { ...page, after: first.next }));
  }
  const ofTraces = [
    { tree_filter: readFilter('and(eq(run_type, "llm"), gt(total_tokens, 50))') },
    { tree_filter: readFilter('eq(status, "error")'), is_head: true },
    { tree_filter: readFilter('search("slow")') },
    { trace_filter: readFilter('and(eq(feedback_key, "helpful"), eq(feedback_score, 1))') },
    { trace_filter: readFilter("gt(total_tokens, 100)"), tree_filter: readFilter('eq(name, "step 1")') },
    { trace_filter: readFilter("eq(is_root, true)"), until: "2026-10-05 09:00:00.000000" as never },
  ];
  for (const [i, filters] of ofTraces.entries()) {
    const selection = { projects: [one, projects, undefined][i % 3], ...filters };
    const page = { columns: ["r.name"], descending: i % 2 === 0, limit: 9 };
    const first = await selectPage(deps, scope, selection, page);
    found.push(first, await selectPage(deps, scope, selection, { ...page, after: first.next }));
    found.push(await statsOfRuns(deps, scope, selection));
  }
  for (const sort of ["start_time", "latency", "total_tokens", "total_cost", "feedback:helpful"] as const) {
    const page = { sort, descending: sort !== "latency", limit: 4 };
    const threads = await selectThreads(deps, scope, { projects: one }, page);
    found.push(threads, await selectThreads(deps, scope, { projects: one }, { ...page, after: threads.at(-1) }));
  }
  const trees = { projects: one, is_head: true, since: microseconds(FROM).replace("T", " ").replace("Z", "") as never };
  for (const field of ["latency", "total_cost"] as const)
    found.push(await histogramOfRuns(deps, scope, trees, { field }));
  found.push(
    await timelineOfRuns(deps, scope, trees, { bucket_seconds: 86_400, select: ["run_count", "total_tokens"] }),
  );
  found.push(await countThreads(deps, scope, { projects: one }));
  found.push(...(await sumOfTraces(deps, scope, one)));
  // means depend on the order of the sum in their last digit
  const rounded = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(12)) : value);
  return found.map((value) => JSON.stringify(value, rounded));
}

/** Sums of all traces of a project, as lists find them and from the runs themselves. */
async function sumOfTraces(deps: typeof platform.deps, scope: RunScope, projects: [string]): Promise<unknown[]> {
  const page = { columns: ["r.name"], descending: true, limit: 500 };
  const { rows: heads } = await selectPage(deps, scope, { projects, is_head: true }, page);
  const traces = heads.map(({ trace_id }) => trace_id!);
  const sorted = (totals: Map<string, TraceTotals>) =>
    Array.from(totals.values(), ({ first_token: _, ...sums }) =>
      JSON.stringify(Object.entries(sums).toSorted()),
    ).toSorted();
  const byEngine = sorted(await findTraceTotals(deps, scope, projects, heads));
  expect(sorted(sumTraces(await readTraceRuns(clickhouse, scope, { projects, traces })))).toEqual(byEngine);
  return byEngine;
}

/** @returns the number of hours that were read from copies */
async function compare(project: string): Promise<number> {
  const wanted = requests(project);
  const period = { projects: [project], since: new Date(FROM), until: new Date(FROM + 20 * HOUR) };
  const read = async () => ({
    facts: await findFacts(sql, TENANT, period),
    found: describe(wanted, await readManySeries(platform.deps, TENANT, wanted)),
    direct: await readDirectly(wanted),
  });
  let all = await read();
  // pieces that waited for their runs may be stored in between
  for (let left = 5; left > 0 && JSON.stringify(all.found) !== JSON.stringify(all.direct); left--) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    all = await read();
  }
  expect(all.found).toEqual(all.direct);
  // from what was remembered
  expect(describe(wanted, await readManySeries(platform.deps, TENANT, wanted))).toEqual(all.direct);
  expect(await observe(project, true)).toEqual(await observe(project, false));
  const projects = [project, await platform.deps.projects.ensureProject(TENANT, "other")];
  expect(await list(projects, true)).toEqual(await list(projects, false));
  return all.facts?.builds.length ?? 0;
}

test("copies of hours answer as the runs do, whatever is written, repeated, late or deleted meanwhile", async () => {
  const project = await platform.deps.projects.ensureProject(TENANT, "facts");
  await platform.deps.projects.ensureProject(TENANT, "other");
  const traces = Array.from({ length: 40 }, (_, i) => sampleTrace(i % 9 === 0 ? "other" : "facts"));
  const writes = traces.flatMap((runs) => runs.flatMap(({ create, end }) => [{ post: [create] }, { patch: [end] }]));
  const shuffled = writes.map((write) => ({ write, at: random(1_000_000) })).toSorted((a, b) => a.at - b.at);
  const rounds = 2;
  const built: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const own = shuffled.slice((round * shuffled.length) / rounds, ((round + 1) * shuffled.length) / rounds);
    const again = own.slice(0, 5);
    const [post, patch] = [
      [...own, ...again].flatMap(({ write }) => ("post" in write ? write.post : [])),
      own.flatMap(({ write }) => ("patch" in write ? write.patch : [])),
    ];
    expect((await call("POST", "/runs/batch", { post, patch })).status).toBeLessThan(300);
    built.push(await compare(project));
    await build();
    // late changes of few runs: other hours stay copied
    const late = pick(traces)[0]!.create;
    await call("PATCH", `/runs/${late.id}`, { error: "RateLimitError: late" });
    await call("POST", "/feedback", { run_id: late.id, key: "helpful", score: random(2) });
    await platform.deps.feedback.flush();
    built.push(await compare(project));
    if (round === 1) {
      const gone = pick(traces)[0]!.create;
      await call("POST", "/runs/delete", { session_id: project, trace_ids: [gone.trace_id] });
      built.push(await compare(project));
    }
  }
  await build();
  built.push(await compare(project));
  expect(built.filter((n) => n > 0).length).toBeGreaterThan(rounds);
  const loaded = await loadScope(platform.deps, RunScope.ofTenant(TENANT));
  const ofTraces = { projects: [project], tree_filter: readFilter('eq(run_type, "llm")') };
  const { traceParts } = await findTraceParts(platform.deps, loaded, ofTraces);
  expect(traceParts.some(({ scope }) => scope.builds)).toBe(true);
  const [rows] = await clickhouse.rows<{ n: number }>({ name: "test", query: "select count() as n from run_facts" });
  const [runs] = await clickhouse.rows<{ n: number }>({ name: "test", query: "select count() as n from runs final" });
  expect(Number(rows!.n)).toBe(Number(runs!.n));

  // as after a restore
  await resetHours(sql);
  expect(await compare(project)).toBe(0);
  await new FactBuilder(platform.deps).build(0);
  expect(await compare(project)).toBeGreaterThan(0);

  // the project is deleted with all copies
  await call("DELETE", `/sessions/${project}`);
  expect(await compare(project)).toBe(0);
}, 300_000);

test("a copy that began before a write does not become the current one", async () => {
  const project = await platform.deps.projects.ensureProject(TENANT, "race");
  const at = (minutes: number) => ({ start_time: microseconds(FROM + minutes * 60_000) });
  await sendRuns(call, [sampleRun("race", at(1), { seconds: 1 })]);
  const command = clickhouse.command.bind(clickhouse);
  const racing = new FactBuilder({
    ...platform.deps,
    clickhouse: Object.assign(Object.create(clickhouse) as typeof clickhouse, {
      async command(query: Parameters<typeof command>[0]) {
        await command(query);
        if (query.name === "run_facts.build")
          await sql`update run_hours set marked_at = clock_timestamp() where project_id = ${project}`;
        if (query.name === "run_facts.build") await racing.stop();
      },
    }),
  });
  await racing.build(0);
  expect(
    await findFacts(sql, TENANT, { projects: [project], since: new Date(FROM), until: new Date(FROM + HOUR) }),
  ).toBeUndefined();
  await build();
  expect(await compare(project)).toBe(1);
});

test("a builder that was frozen before it deletes keeps what another has built meanwhile", async () => {
  const project = await platform.deps.projects.ensureProject(TENANT, "frozen");
  const at = (minutes: number) => ({ start_time: microseconds(FROM + minutes * 60_000) });
  await sendRuns(call, [sampleRun("frozen", at(1), { seconds: 1 })]);
  await build();
  await sendRuns(call, [sampleRun("frozen", at(2), { seconds: 1 })]);
  await platform.deps.writer.forget({ traces: [] });
  const command = clickhouse.command.bind(clickhouse);
  for (const quietSeconds of [0, 3600]) {
    // before the statement, another builder has copied all hours
    await sql`update run_hours set build = null, marked_at = clock_timestamp() - interval '2 hours' where project_id = ${project}`;
    const frozen = new FactBuilder({
      ...platform.deps,
      clickhouse: Object.assign(Object.create(clickhouse) as typeof clickhouse, {
        async command(query: Parameters<typeof command>[0]) {
          if (query.name === "run_facts.delete") await builder.build(0);
          await command(query);
        },
      }),
    });
    await frozen.build(quietSeconds);
    expect(await compare(project)).toBe(1);
  }
});

test("a filtered list beyond its first window is the same from copies", async () => {
  const project = await platform.deps.projects.ensureProject(TENANT, "long");
  const at = (second: number) => ({ start_time: microseconds(FROM + second * 1000) });
  for (let sent = 0; sent < 9_000; sent += 1_500) {
    const runs = Array.from({ length: 1_500 }, (_, i) =>
      sampleRun(
        "long",
        { ...at(sent + i), ...((sent + i) % 900 < 2 && { error: "rare", tags: ["rare"] }) },
        { seconds: 1 },
      ),
    );
    await sendRuns(call, runs);
  }
  await build();
  const names: string[] = [];
  const spied = Object.assign(Object.create(clickhouse) as typeof clickhouse, {
    forTenant(tenant: string) {
      const own = clickhouse.forTenant(tenant);
      const rows = own.rows.bind(own);
      return Object.assign(own, {
        rows: (query: Parameters<typeof rows>[0]) => {
          const how = query.query.includes("run_facts")
            ? " of copies"
            : query.query.includes(" in (select r.start_time")
              ? " by pieces"
              : "";
          names.push(`${query.name}${how}`);
          return rows(query);
        },
      });
    },
  });
  const pages = async (runCopies: boolean) => {
    const deps = { ...platform.deps, clickhouse: spied, settings: { ...platform.deps.settings, runCopies } };
    const scope = await loadScope(deps, RunScope.ofTenant(TENANT));
    const found: unknown[] = [];
    for (const selection of [
      { projects: [project], error: true },
      { projects: [project], is_root: true, filters: [readFilter('has(tags, "rare")')] },
      { projects: [project], is_root: true, filters: [readFilter('has(tags, "nowhere")')] },
      { projects: [project], is_root: true, filters: [readFilter('and(search("RARE"), eq(name, "sample"))')] },
      { projects: [project], is_root: true, filters: [readFilter('search("nowhere")')] },
    ]) {
      for (const descending of [true, false]) {
        let page = { columns: ["r.name"], descending, limit: 8, after: undefined } as Parameters<typeof selectPage>[3];
        for (let more = true; more;) {
          const { rows, next } = await selectPage(deps, scope, selection, page);
          found.push(rows.map(({ id }) => id));
          page = { ...page, after: next };
          more = next !== undefined;
        }
      }
    }
    return found;
  };
  const copied = await pages(true);
  expect(copied.flat()).toHaveLength(6 * 20);
  expect(names).toContain("runs.page of copies");
  expect(names).toContain("runs.page by pieces");
  expect(copied).toEqual(await pages(false));
});
