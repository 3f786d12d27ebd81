import { bind, ch, raw } from "../../base/clickhouse/fragment.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { HAS_FAILED, RUN_LATENCY } from "../run-rows/clickhouse.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import type { ComparativeFeedback } from "./scores-sql.ts";
import { fromRuns } from "../runs/selection.ts";
import { TRACE_SUMS } from "../runs/trace-sums.ts";

/** Root runs of one experiment with an example, in columns: element i of each belongs to the same run. */
export interface RunColumns {
  project: string;
  runs: string[];
  examples: string[];
  /** Seconds; null while the run is pending. */
  latencies: (number | null)[];
  failed: number[];
  tokens: (number | null)[];
  /** US dollars. */
  costs: (number | null)[];
}

/** Missing numbers: groupArray skips nulls, and NaN is serialized as null. */
const orNaN = (column: string) => `groupArray(ifNull(toFloat64(${column}), nan))`;

const IS_ROOT = "r.parent_run_id is null";

/**
 * Reads the runs of experiments without their texts, as columns: 25,000 runs take a tenth of the time that rows would.
 * Tokens and costs are those of the whole trace, which is read in the same pass as its root.
 */
export function readRunColumns(clickhouse: ClickHouse, scope: RunScope, projects: string[]): Promise<RunColumns[]> {
  const statement = ch`
    select toString(t.project) as project, groupArray(toString(t.root)) as runs,
      groupArray(toString(assumeNotNull(t.example))) as examples, groupArray(t.root_failed) as failed,
      ${raw(`${orNaN("t.latency")} as latencies, ${orNaN("t.trace_total_tokens")} as tokens,
        ${orNaN("t.trace_total_cost")} as costs`)}
    from (
      select r.project_id as project, r.trace_id as trace, ${raw(`anyIf(r.id, ${IS_ROOT}) as root,
        anyIf(r.reference_example_id, ${IS_ROOT}) as example, anyIf(${RUN_LATENCY}, ${IS_ROOT}) as latency,
        toUInt8(countIf(${IS_ROOT} and ${HAS_FAILED}) > 0) as root_failed, ${TRACE_SUMS}`)}
      ${fromRuns(scope, { projects })} group by project, trace having example is not null
    ) as t
    group by t.project`;
  return readRows<RunColumns>(clickhouse.forTenant(scope.tenantId), "experiments.runs", statement);
}

/** Texts of a run for a list. */
export interface RunPreview {
  id: string;
  project_id: string;
  reference_example_id: string;
  inputs_preview: string | null;
  outputs_preview: string | null;
  error: string | null;
  start_time: string;
}

/** Characters of an error in a list. */
const ERROR_LENGTH = 500;

/** Reads previews of the runs of these examples: first their keys, so that no other text is read. */
export async function readPreviews(
  clickhouse: ClickHouse,
  scope: RunScope,
  projects: string[],
  runs: string[],
): Promise<Map<string, RunPreview>> {
  if (runs.length === 0) return new Map();
  const tenant = clickhouse.forTenant(scope.tenantId);
  const keys = await readRows<{ start_time: string }>(
    tenant,
    "experiments.preview_keys",
    ch`select distinct start_time from run_keys final where tenant_id = ${bind("UUID", scope.tenantId)}
      and id in ${bind("Array(UUID)", runs)}`,
  );
  const at = keys.map((key) => key.start_time);
  const found = await readRows<RunPreview>(
    tenant,
    "experiments.previews",
    ch`select r.id, r.project_id, r.reference_example_id, r.inputs_preview, r.outputs_preview, r.start_time,
      left(r.error, ${bind("UInt32", ERROR_LENGTH)}) as error
      ${fromRuns(scope, { projects, ids: runs, at: at as never })}`,
  );
  return new Map(found.map((run) => [run.id, run]));
}

/** Moments over an experiment's examples of the average of one key (for bootstrap-interval.ts). */
export interface KeyMoments {
  project: string;
  key: string;
  n: number;
  mean: number;
  variance: number;
  skew: number | null;
  min: number;
  max: number;
}

/** Computes moments of all scores of experiments, from the copy of the feedback, except the `excluded` feedback. */
export function readScoreMoments(
  clickhouse: ClickHouse,
  scope: RunScope,
  projects: string[],
  keys: string[] | undefined,
  excluded: ComparativeFeedback,
): Promise<KeyMoments[]> {
  const others = excluded.ids.length > 0 ? ch`and f.id not in ${bind("Array(UUID)", excluded.ids)}` : raw("");
  const tenant = bind("UUID", scope.tenantId);
  const only = keys ? ch`and f.key in ${bind("Array(String)", keys)}` : raw("");
  const statement = ch`
    select toString(project) as project, key, count() as n, avg(x) as mean, varPop(x) as variance,
      if(variance > 0, skewPop(x), 0) as skew, min(x) as min, max(x) as max
    from (
      select m.project as project, m.example as example, f.key as key, avg(f.score) as x
      from feedback as f final
      inner join (
        select r.id as id, r.project_id as project, r.reference_example_id as example
        ${fromRuns(scope, { projects, is_root: true, has_example: true })}
      ) as m on m.id = f.run_id
      where f.tenant_id = ${tenant} and f.score is not null and not has(${bind("Array(String)", excluded.keys)}, f.key) ${others}
        ${only}
      group by project, example, key
    ) group by project, key order by project, key limit 10000`;
  return readRows<KeyMoments>(clickhouse.forTenant(scope.tenantId), "experiments.score_moments", statement);
}
