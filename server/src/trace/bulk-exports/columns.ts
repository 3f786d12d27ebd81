/**
 * Columns of an exported file, in order. Each is an expression over `runs as r` merged, `t`
 * (sums over its trace, see joinTotals in clickhouse.ts) and `f` (feedback statistics). Names and values match the runs
 * of the API (trace/runs/serialize-v1.ts).
 *
 * Types are those that every Parquet reader supports: text, BOOLEAN, INT64, DOUBLE, TIMESTAMP in microseconds UTC, LIST
 * of text; JSON is text as received. Nullable columns are optional, all others required.
 */
import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { type IncompleteHours, IS_HEAD, runStatus } from "../run-rows/clickhouse.ts";

export type FormatVersion = "v1" | "v2_beta";

interface Column {
  sql: (context: ColumnContext) => Fragment;
  needs?: "totals" | "feedback";
}

export interface ColumnContext {
  version: FormatVersion;
  tenantId: string;
  /** Tier of runs without one. */
  tier: string;
  incompleteHours: IncompleteHours;
}

const column = (sql: string): Column => ({ sql: () => raw(sql) });

/** List column; JSON text in v1. */
const list = (sql: string): Column => ({
  sql: ({ version }) => raw(version === "v1" ? `toJSONString(${sql})` : sql),
});

const ofTrace = (name: string) => `if(${IS_HEAD}, coalesce(t.models_${name}, r.${name}, t.all_${name}), r.${name})`;
const tokens = (name: string): Column => ({ sql: () => raw(`ifNull(${ofTrace(name)}, 0)`), needs: "totals" });
const cost = (name: string): Column => ({ sql: () => raw(`toFloat64(${ofTrace(name)})`), needs: "totals" });

const PARENTS = "arrayMap(s -> right(s, 36), arrayPopBack(splitByChar('.', ifNull(r.dotted_order, ''))))";
// tags are enclosed in U+001E; a lone U+001E stands for none (run-rows/pairs.ts)
const TAGS =
  "arrayFilter((s, i) -> i > 1, arrayPopBack(splitByChar('\\x1E', r_tags)), arrayEnumerate(arrayPopBack(splitByChar('\\x1E', r_tags))))";

const COLUMNS = {
  id: column("toString(r.id)"),
  tenant_id: { sql: ({ tenantId }) => ch`toString(${bind("UUID", tenantId)})` },
  session_id: column("toString(r.project_id)"),
  trace_id: column("toString(r.trace_id)"),
  parent_run_id: column("toString(r.parent_run_id)"),
  parent_run_ids: list(PARENTS),
  reference_example_id: column("toString(r.reference_example_id)"),
  name: column("ifNull(r.name, '')"),
  run_type: column("cast(ifNull(r.run_type, 'chain') as String)"),
  start_time: column("r.start_time"),
  end_time: column("r.end_time"),
  status: { sql: ({ incompleteHours }) => raw(`cast(assumeNotNull(${runStatus(incompleteHours)}) as String)`) },
  is_root: column("cast(r.parent_run_id is null as Bool)"),
  dotted_order: column("ifNull(r.dotted_order, '')"),
  trace_tier: { sql: ({ tier }) => ch`cast(ifNull(r.trace_tier, ${bind("String", tier)}) as String)` },
  inputs: column("r.inputs"),
  outputs: column("r.outputs"),
  error: column("r.error"),
  extra: column("r.extra"),
  events: column("r.events"),
  tags: list(TAGS.replaceAll("r_tags", "ifNull(r.tags, '\\x1E')")),
  feedback_stats: { sql: () => raw("nullIf(f.stats, '')"), needs: "feedback" },
  total_tokens: tokens("total_tokens"),
  prompt_tokens: tokens("prompt_tokens"),
  completion_tokens: tokens("completion_tokens"),
  total_cost: cost("total_cost"),
  prompt_cost: cost("prompt_cost"),
  completion_cost: cost("completion_cost"),
  first_token_time: column("r.first_token_time"),
} satisfies Record<string, Column>;

export type ExportField = keyof typeof COLUMNS;

export const EXPORT_FIELDS = Object.keys(COLUMNS) as ExportField[];

/** Incremented when a column's name, type or meaning changes. */
export const SCHEMA_VERSION = 1;

/** Returns the given fields in column order; all fields for null. */
export const orderedFields = (names: readonly string[] | null): ExportField[] =>
  names === null ? EXPORT_FIELDS : EXPORT_FIELDS.filter((name) => names.includes(name));

export const findColumn = (name: ExportField): Column => COLUMNS[name];

export const needs = (fields: readonly ExportField[], what: "totals" | "feedback"): boolean =>
  fields.some((name) => (COLUMNS[name] as Column).needs === what);

/** Returns the fields that, for a root, are sums over its trace. */
export const summed = (fields: readonly ExportField[]): ExportField[] =>
  fields.filter((name) => (COLUMNS[name] as Column).needs === "totals");
