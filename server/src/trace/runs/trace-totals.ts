import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { ch, raw } from "../../base/clickhouse/fragment.ts";
import { groupBy } from "../../base/group-by.ts";
import { IS_CALL, IS_HEAD } from "../run-rows/clickhouse.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { readRows } from "./read-rows.ts";
import type { TraceDeps } from "../deps.ts";
import { hourOf } from "../run-facts/hour-marks.ts";
import { readBuilds } from "../run-facts/sql.ts";
import type { RunScope } from "./run-scope.ts";
import type { Row } from "./select-page.ts";
import { fromRuns } from "./selection.ts";
import { earliestRun, SUMMED } from "./trace-sums.ts";

/** Usage of a whole trace, named as in TRACE_SUMS. Costs are exact decimal text. */
export interface TraceTotals {
  trace: string;
  /** Copies lack it. */
  first_token?: MicroTime | null;
  trace_total_tokens: number | null;
  trace_prompt_tokens: number | null;
  trace_completion_tokens: number | null;
  trace_total_cost: string | null;
  trace_prompt_cost: string | null;
  trace_completion_cost: string | null;
}

export const DETAIL_COLUMNS = [
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
] as const;
export type DetailColumn = (typeof DETAIL_COLUMNS)[number];

/** Reads details of a run, JSON objects of whole numbers or decimal text, as a map of exact numbers by category. */
export const readDetails = (name: DetailColumn): string =>
  name.includes("cost")
    ? `mapApply((k, v) -> (k, toDecimal128OrZero(v, 18)), JSONExtract(ifNull(r.${name}, '{}'), 'Map(String, String)'))`
    : `JSONExtract(ifNull(r.${name}, '{}'), 'Map(String, Int64)')`;

/** Sums maps over model calls, or over all rows if no call has any: chains often repeat the details of their calls. */
export const sumDetails = (map: string, isModel: string): string =>
  `if(countIf(${isModel} and notEmpty(${map})) > 0, sumMapIf(${map}, ${isModel}), sumMap(${map}))`;

/** The rule of TRACE_SUMS for details, as `trace_prompt_token_details` and so on. */
export function sumTraceDetails(name: DetailColumn): string {
  const [map, root] = [readDetails(name), IS_HEAD];
  const model = `ifNull(${IS_CALL}, false)`;
  return `multiIf(countIf(${model} and notEmpty(${map})) > 0, sumMapIf(${map}, ${model}),
    countIf(${root} and notEmpty(${map})) > 0, sumMapIf(${map}, ${root}), sumMap(${map})) as trace_${name}`;
}

/** Head of a trace. */
type Head = Pick<Row, "id" | "trace_id" | "project_id" | "start_time">;

/** Finds the totals of the traces of these heads: in copies of finished hours, and otherwise from their runs. */
export async function findTraceTotals(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings">,
  scope: RunScope,
  projects: string[],
  heads: readonly Head[],
): Promise<Map<string, TraceTotals>> {
  // copies have the sums of a project's part of a trace
  const copied =
    heads.length > 1 && projects.length === 1 && deps.settings.runCopies
      ? await readCopiedTotals(deps, scope, projects[0]!, heads)
      : new Map<string, TraceTotals>();
  const others = heads.filter((head) => !copied.has(head.trace_id!));
  if (others.length === 0) return copied;
  return new Map([...copied, ...(await readTraceTotals(deps.clickhouse, scope, projects, others))]);
}

async function readCopiedTotals(
  { sql, clickhouse }: Pick<TraceDeps, "sql" | "clickhouse">,
  scope: RunScope,
  project: string,
  heads: readonly Head[],
): Promise<Map<string, TraceTotals>> {
  const builds = await readBuilds(sql, scope.tenantId, project, [
    ...new Set(heads.map((head) => hourOf(head.start_time))),
  ]);
  if (builds.length === 0) return new Map();
  const sums = raw(SUMMED.map((name) => `r.trace_${name} as trace_${name}`).join(", "));
  const selection = {
    projects: [project],
    is_head: true,
    at: [...new Set(heads.map((head) => head.start_time))],
    traces: heads.map((head) => head.trace_id!),
  };
  // late runs of a trace with several heads announce the hour of the first only, which is the root's
  const isRoot = raw("r.id = r.trace_id");
  const rows = await readRows<TraceTotals>(
    clickhouse.forTenant(scope.tenantId),
    "runs.copied_totals",
    ch`select r.trace_id as trace, ${sums} ${fromRuns(scope.withBuilds(builds), selection, [isRoot])}`,
  );
  return new Map(rows.map((row) => [row.trace, row]));
}

/**
 * Reads the totals of the traces of these heads over their runs in these projects. Same rule as TRACE_SUMS, but applied
 * here: planning eighteen conditional aggregates took longer than executing them.
 */
export async function readTraceTotals(
  clickhouse: ClickHouse,
  scope: RunScope,
  projects: string[],
  heads: readonly Pick<Head, "id" | "trace_id" | "start_time">[],
): Promise<Map<string, TraceTotals>> {
  const traces = [...new Set(heads.map((head) => head.trace_id!))];
  // other runs of a trace begin after its root, but not after a head that stands in for it in one of several projects
  const areRoots = heads.every((head) => head.id === head.trace_id);
  const since = areRoots ? earliestRun(heads.map((head) => head.start_time).toSorted()[0]!) : undefined;
  const sums = raw(SUMMED.map((name) => `sum(r.${name}) as trace_${name}`).join(", "));
  const statement = ch`
    select r.trace_id as trace, min(r.first_token_time) as first_token, ${sums},
      multiIf(${raw(IS_CALL)}, 'model', ${raw(IS_HEAD)}, toString(r.id), 'other') as teller
    ${fromRuns(scope, { projects, traces, since })} group by r.trace_id, teller`;
  // of model calls, of each head, of other runs
  const rows = await readRows<TraceTotals & { teller: string }>(
    clickhouse.forTenant(scope.tenantId),
    "runs.trace_totals",
    statement,
  );
  const rank = ({ teller }: { teller: string }) => (teller === "model" ? 0 : teller === "other" ? 2 : 1);
  const byTrace = groupBy(
    rows.toSorted((a, b) => rank(a) - rank(b)),
    (row) => row.trace,
  );
  return new Map(Array.from(byTrace, ([trace, ranked]) => [trace, mergeTotals(trace, ranked)]));
}

/** Takes each value from the first that has one. */
function mergeTotals(trace: string, ranked: readonly TraceTotals[]): TraceTotals {
  const first = ranked.flatMap((totals) => totals.first_token ?? []).toSorted()[0] ?? null;
  const sums = SUMMED.map((name) => `trace_${name}` as const).map((name) => [
    name,
    ranked.find((totals) => totals[name] != null)?.[name] ?? null,
  ]);
  return { trace, first_token: first, ...(Object.fromEntries(sums) as Omit<TraceTotals, "trace" | "first_token">) };
}
