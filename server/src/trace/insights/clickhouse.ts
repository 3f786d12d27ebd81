/** Statements over the runs of a period. A unit is the head of a trace, or the latest head of a thread. */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { any, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { HAS_FAILED, IS_HEAD, RUN_LATENCY } from "../run-rows/clickhouse.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection } from "../runs/selection.ts";
import { sumOfTrace } from "../runs/trace-sums.ts";

/** Score of a feedback key below which it is bad; above which, where lower scores are better. */
export interface Threshold {
  key: string;
  middle: number;
  lowerIsBetter: boolean;
}

export interface Population {
  selection: RunSelection;
  unit: "roots" | "threads";
  thresholds: readonly Threshold[];
}

export interface UnitRow {
  id: string;
  project_id: string;
  trace_id: string;
  start_time: string;
  thread_id: string | null;
}

const MIDDLE = 0.5;

/** Traces with bad feedback. */
function badTraces(scope: RunScope, thresholds: readonly Threshold[]): Fragment {
  const keys = bind(
    "Array(String)",
    thresholds.map(({ key }) => key),
  );
  const own = thresholds.map(({ key, middle, lowerIsBetter }) => {
    const value = bind("Float64", middle);
    const name = bind("String", key);
    return lowerIsBetter ? ch`(key = ${name} and score > ${value})` : ch`(key = ${name} and score < ${value})`;
  });
  const others = ch`(not has(${keys}, key) and score < ${bind("Float64", MIDDLE)})`;
  return ch`select assumeNotNull(ifNull(trace_id, run_id)) from feedback final
    where tenant_id = ${bind("UUID", scope.tenantId)} and not failed and score is not null and ${any([...own, others])}`;
}

function selectUnits(scope: RunScope, { selection, unit, thresholds }: Population): Fragment {
  const heads = ch`select r.id as id, r.project_id as project_id, r.trace_id as trace_id, r.start_time as start_time,
      r.thread_id as thread_id, (${raw(HAS_FAILED)} or r.trace_id in (${badTraces(scope, thresholds)})) as failed
    ${fromRuns(scope, { ...selection, is_head: true, ...(unit === "threads" && { has_thread: true }) })}`;
  if (unit === "roots") return heads;
  return ch`select argMax(h.id, h.start_time) as id, argMax(h.project_id, h.start_time) as project_id,
      argMax(h.trace_id, h.start_time) as trace_id, max(h.start_time) as start_time, h.thread_id as thread_id,
      max(h.failed) as failed
    from (${heads}) as h group by h.thread_id`;
}

/** Counts the units, and those of them that failed or got bad feedback. */
export async function countUnits(
  clickhouse: ClickHouse,
  scope: RunScope,
  population: Population,
): Promise<{ all: number; failed: number }> {
  const statement = ch`select count() as n, countIf(u.failed) as bad from (${selectUnits(scope, population)}) as u`;
  const [row] = await readRows<{ n: number; bad: number }>(
    clickhouse.forTenant(scope.tenantId),
    "insights.count",
    statement,
  );
  return { all: Number(row!.n), failed: Number(row!.bad) };
}

/** Samples units by the hash of their ids, so that the same runs are chosen again. */
export function sampleUnits(
  clickhouse: ClickHouse,
  scope: RunScope,
  population: Population,
  { failed, limit }: { failed: boolean; limit: number },
): Promise<UnitRow[]> {
  const statement = ch`select u.id as id, u.project_id as project_id, u.trace_id as trace_id, u.start_time as start_time,
      u.thread_id as thread_id
    from (${selectUnits(scope, population)}) as u where u.failed = ${bind("UInt8", failed ? 1 : 0)}
    order by cityHash64(u.id), u.id limit ${bind("UInt32", limit)}`;
  return readRows<UnitRow>(clickhouse.forTenant(scope.tenantId), "insights.sample", statement);
}

export interface TextRow {
  id: string;
  inputs: string | null;
  inputs_preview: string | null;
  outputs_preview: string | null;
  error: string | null;
}

/** Size of inputs above which only their preview is read. */
const MAX_INPUTS = 256 * 1024;

interface Located {
  run_id: string;
  project_id: string;
  start_time: string;
  trace_id: string;
}

const byKeys = (runs: readonly Located[]): RunSelection => ({
  projects: [...new Set(runs.map((run) => run.project_id))],
  ids: runs.map((run) => run.run_id),
  at: [...new Set(runs.map((run) => run.start_time))],
});

/** Reads what texts are made of. Deleted runs are left out. */
export function readTexts(clickhouse: ClickHouse, scope: RunScope, runs: readonly Located[]): Promise<TextRow[]> {
  if (runs.length === 0) return Promise.resolve([]);
  const statement = ch`select r.id, if(length(r.inputs) <= ${bind("UInt32", MAX_INPUTS)}, r.inputs, null) as inputs,
      r.inputs_preview, r.outputs_preview, left(r.error, 2000) as error
    ${fromRuns(scope, byKeys(runs))}`;
  return readRows<TextRow>(clickhouse.forTenant(scope.tenantId), "insights.texts", statement, {
    prefer_column_name_to_alias: 1,
  });
}

export interface Measured {
  trace: string;
  latency: number | null;
  failed: number;
  cost: string | null;
}

/** Measures traces: latency and outcome of the head, cost of all runs. */
export function measureTraces(clickhouse: ClickHouse, scope: RunScope, runs: readonly Located[]): Promise<Measured[]> {
  const selection = {
    projects: [...new Set(runs.map((run) => run.project_id))],
    traces: [...new Set(runs.map((run) => run.trace_id))],
  };
  const statement = ch`select r.trace_id as trace, anyIf(${raw(RUN_LATENCY)}, ${raw(IS_HEAD)}) as latency,
      anyIf(${raw(HAS_FAILED)}, ${raw(IS_HEAD)}) as failed, ${raw(sumOfTrace("total_cost"))} as cost
    ${fromRuns(scope, selection)} group by r.trace_id`;
  return readRows<Measured>(clickhouse.forTenant(scope.tenantId), "insights.measure", statement);
}

export interface ScoreRow {
  trace: string;
  key: string;
  n: number;
  avg: number;
}

/** Reads the mean scores of traces, by key. */
export function readScores(clickhouse: ClickHouse, scope: RunScope, traces: readonly string[]): Promise<ScoreRow[]> {
  const statement = ch`select assumeNotNull(ifNull(trace_id, run_id)) as trace, key, count() as n, avg(score) as avg
    from feedback final
    where tenant_id = ${bind("UUID", scope.tenantId)} and score is not null
      and assumeNotNull(ifNull(trace_id, run_id)) in ${bind("Array(UUID)", traces)}
    group by trace, key`;
  return readRows<ScoreRow>(clickhouse.forTenant(scope.tenantId), "insights.scores", statement);
}
