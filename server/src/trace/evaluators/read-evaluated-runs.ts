import { bind, ch, raw } from "../../base/clickhouse/fragment.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { isHead, type RunKey } from "../run-rows/clickhouse.ts";
import { ENTRY } from "../run-rows/pairs.ts";
import { parseTime } from "../run-rows/times.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { readRuns, type Row } from "../runs/select-page.ts";
import { fromRuns } from "../runs/selection.ts";
import { readTraceTotals, type TraceTotals } from "../runs/trace-totals.ts";
import type { EvaluatedRun } from "./schema.ts";

export type EvaluatedKey = Pick<RunKey, "id" | "project_id" | "start_time" | "trace_id">;

/** Most runs of a trace that evaluators see. */
const MAX_CHILDREN = 500;
/** Characters of a field of a run below; longer ones are judged by their preview. */
const MAX_FIELD = 64 * 1024;
/** Traces per statement. */
const BATCH = 50;

const COLUMNS = [
  "r.trace_id",
  "r.parent_run_id",
  "r.provisional_root",
  "r.name",
  "r.run_type",
  "r.end_time",
  "r.error",
  "r.inputs",
  "r.outputs",
  "r.extra",
  "r.tags",
  "r.thread_id",
  "r.reference_example_id",
  "toFloat64(r.total_tokens) as own_tokens",
  "toString(r.total_cost) as own_cost",
];

/** Long texts of the runs below are cut in the store: a trace has hundreds. */
const CHILD_COLUMNS = COLUMNS.map((column) =>
  column === "r.inputs" || column === "r.outputs"
    ? `if(length(${column}) > ${MAX_FIELD}, toJSONString(concat(leftUTF8(${column}, ${MAX_FIELD}), '… [truncated]')),
      ${column}) as ${column.slice(2)}_text`
    : column === "r.extra"
      ? "if(length(r.extra) > 65536, null, r.extra) as extra_text"
      : column,
);

/**
 * Reads runs with what evaluators need, in the order of the keys; deleted runs are left out.
 * @param options.children whether with the other runs of each trace
 */
export async function readEvaluatedRuns(
  deps: Pick<TraceDeps, "clickhouse">,
  tenantId: string,
  keys: readonly EvaluatedKey[],
  options: { children?: boolean } = {},
): Promise<EvaluatedRun[]> {
  const scope = RunScope.ofTenant(tenantId);
  const found: EvaluatedRun[] = [];
  for (let start = 0; start < keys.length; start += BATCH) {
    const batch = keys
      .slice(start, start + BATCH)
      .map((key) => ({ ...key, start_time: parseTime(key.start_time) ?? key.start_time }));
    const rows = await readRuns(deps.clickhouse, scope, batch, COLUMNS);
    const heads = rows.filter(isHead);
    const totals =
      heads.length === 0
        ? new Map<string, TraceTotals>()
        : await readTraceTotals(deps.clickhouse, scope, [...new Set(heads.map((row) => row.project_id))], heads);
    const below = options.children ? await readChildren(deps, scope, rows) : undefined;
    for (const row of rows) {
      const run = toRun(row, isHead(row) ? totals.get(row.trace_id!) : undefined);
      if (below) run.children = below.filter((child) => child.trace_id === run.trace_id && child.id !== run.id);
      found.push(run);
    }
  }
  return found;
}

async function readChildren(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  rows: readonly Row[],
): Promise<EvaluatedRun[]> {
  if (rows.length === 0) return [];
  const projects = [...new Set(rows.map((row) => row.project_id))];
  const traces = [...new Set(rows.map((row) => row.trace_id!))];
  const statement = ch`select r.project_id, r.start_time, r.id, ${raw(CHILD_COLUMNS.join(", "))}
    ${fromRuns(scope, { projects, traces })}
    order by r.start_time, r.id limit ${bind("UInt32", MAX_CHILDREN)} by r.trace_id`;
  const children = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "evaluators.children", statement);
  return children.map((row) => toRun(row, undefined));
}

const text = (row: Row, name: "inputs" | "outputs" | "extra"): string | null =>
  (row[name] ?? (row[`${name}_text`] as string | null | undefined)) || null;

function toRun(row: Row, totals: TraceTotals | undefined): EvaluatedRun {
  const extra = read(text(row, "extra")) as { metadata?: unknown } | null;
  const metadata = extra?.metadata;
  return {
    id: row.id,
    trace_id: row.trace_id!,
    project_id: row.project_id,
    name: row.name ?? "",
    run_type: row.run_type ?? "chain",
    start_time: toIso(row.start_time),
    end_time: row.end_time == null ? null : toIso(row.end_time),
    error: row.error ?? null,
    inputs: read(text(row, "inputs")),
    outputs: read(text(row, "outputs")),
    metadata: metadata !== null && typeof metadata === "object" ? (metadata as Record<string, unknown>) : {},
    tags: (row.tags ?? "").split(ENTRY).filter((tag) => tag !== ""),
    thread_id: row.thread_id ?? null,
    reference_example_id: row.reference_example_id ?? null,
    parent_run_id: row.parent_run_id ?? null,
    total_tokens: totals ? totals.trace_total_tokens : ((row["own_tokens"] as number | null) ?? null),
    total_cost: totals ? totals.trace_total_cost : ((row["own_cost"] as string | null) ?? null),
  };
}

/** Parses a stored field; text that is no JSON stays text. */
function read(json: string | null): unknown {
  if (json === null) return null;
  try {
    return parseJson(json);
  } catch {
    return json;
  }
}

const toIso = (time: string): string => `${time.replace(" ", "T")}${time.endsWith("Z") ? "" : "Z"}`;
