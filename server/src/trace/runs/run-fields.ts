import { isHead } from "../run-rows/clickhouse.ts";
import type { Lookup, Related } from "./related.ts";
import type { Row } from "./select-page.ts";
import { ENTRY } from "../run-rows/pairs.ts";

/** Definition of a field: the columns and lookups it needs, and its serialization. */
export interface RunField {
  columns: readonly string[];
  lookups: readonly Lookup[];
  /** Returns JSON text. */
  print(row: Row, related: Partial<Related>, context: SerializationContext): string;
}

export interface SerializationContext {
  tenantId: string;
  /** Base of link paths: `http://localhost:1984/api/v1`. */
  apiBase: string;
  /** Base of console page paths: `http://localhost:3000`. */
  consoleUrl: string;
  /** Retention of traces in days; undefined: unlimited. */
  retentionDays(tier: "longlived" | "shortlived"): number | undefined;
  defaultTier: "longlived" | "shortlived";
}

/** Columns that every field needs, to distinguish heads of traces from other runs and to select lookups. */
export const ALWAYS = ["r.trace_id", "r.parent_run_id", "r.provisional_root"];

const json = (value: unknown): string => (value === undefined ? "null" : JSON.stringify(value));

/** Field with a column's value. */
export const plain = (name: string): RunField => field([`r.${name}`], (row) => json(row[name]));

/** Field with a column's JSON text, sent unchanged. */
export const rawJsonColumn = (name: string): RunField =>
  field([`r.${name}`], (row) => (row[name] as string | null | undefined) ?? "null");

export const constant = (text: string): RunField => field([], () => text);

export function field(columns: readonly string[], print: RunField["print"], lookups: readonly Lookup[] = []): RunField {
  return { columns, lookups, print };
}

/** Field with a time column, formatted for the version of the interface. */
export const timeColumn = (name: string, print: (time: string) => string): RunField =>
  field([`r.${name}`], (row) => {
    const value = row[name] as string | null | undefined;
    return value == null ? "null" : json(print(value));
  });

/** v1: naive UTC with six digits. v2: RFC 3339 (contract §0.5). */
export const naive = (time: string): string => time.replace(" ", "T");
export const zulu = (time: string): string => `${naive(time)}Z`;

type Summed = "total_tokens" | "prompt_tokens" | "completion_tokens" | "total_cost" | "prompt_cost" | "completion_cost";

/** Returns the usage of the whole trace for its head, and of the run itself otherwise (contract §1.9). */
export function consumed(row: Row, related: Partial<Related>, name: Summed): number | string | null {
  const totals = isHead(row) ? related.totals?.get(row.trace_id!) : undefined;
  return totals ? totals[`trace_${name}`] : ((row[name] as number | string | null | undefined) ?? null);
}

/** Returns the ids from the root to the parent. */
export function parentIds(row: Row): string[] {
  const segments = (row.dotted_order ?? "").split(".").slice(0, -1);
  return segments.map((segment) => segment.slice(-36));
}

export function tagList(row: Row): string[] {
  const text = row.tags ?? "";
  return text.length > 1 ? text.slice(1, -1).split(ENTRY) : [];
}

export const appPath = (row: Row, tenantId: string): string =>
  `/o/${tenantId}/projects/p/${row.project_id}/r/${row.id}` +
  `?trace_id=${row.trace_id}&start_time=${encodeURIComponent(naive(row.start_time))}`;

export function effectiveTier(
  row: Row,
  related: Partial<Related>,
  context: SerializationContext,
): "longlived" | "shortlived" {
  const own = row.trace_tier as "longlived" | "shortlived" | null | undefined;
  return own ?? related.tiers?.get(row.project_id)?.trace_tier ?? context.defaultTier;
}

/** Returns the seconds from the run's start until its trace may be deleted; null when it is kept (retention/). */
export function ttlSeconds(row: Row, related: Partial<Related>, context: SerializationContext): number | null {
  const project = related.tiers?.get(row.project_id);
  const tier = project?.trace_tier ?? context.defaultTier;
  const own = project?.retention_days ?? context.retentionDays(tier);
  const days =
    row.trace_tier == null ? own : longer(context.retentionDays(effectiveTier(row, related, context)), own, row);
  return days === undefined ? null : days * 86_400;
}

/** Returns the longer retention for an upgraded trace, so that the upgrade never shortens it. */
function longer(ofTier: number | undefined, ofProject: number | undefined, row: Row): number | undefined {
  if (row.trace_tier !== "longlived") return ofTier;
  return ofTier === undefined || ofProject === undefined ? undefined : Math.max(ofTier, ofProject);
}

/** Returns true if the trace is in the longer tier and its project in the shorter one. */
export function isUpgraded(row: Row, related: Partial<Related>, context: SerializationContext): boolean {
  const ofProject = related.tiers?.get(row.project_id)?.trace_tier ?? context.defaultTier;
  return row.trace_tier === "longlived" && ofProject === "shortlived";
}
