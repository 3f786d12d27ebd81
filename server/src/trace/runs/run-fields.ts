import { RUN_STATUS } from "./clickhouse.ts";
import type { Lookup, Related } from "./related.ts";
import type { Row } from "./select-page.ts";
import { ENTRY } from "./pairs.ts";

/** How a field of a run is made: of which columns, with which lookups, and what is sent. */
export interface RunField {
  columns: readonly string[];
  lookups: readonly Lookup[];
  /** JSON text. */
  print(row: Row, related: Partial<Related>, context: PrintContext): string;
}

export interface PrintContext {
  tenantId: string;
  /** What the paths of links are put behind: `http://localhost:1984/api/v1`. */
  apiBase: string;
  /** What the paths of pages for people are put behind: `http://localhost:3000`. */
  consoleUrl: string;
  /** How long traces are kept, in days; undefined is for ever. */
  retentionDays(tier: "longlived" | "shortlived"): number | undefined;
  defaultTier: "longlived" | "shortlived";
}

/** Every field of a run needs these: they tell a root from a child, and what to look up. */
export const ALWAYS = ["r.trace_id", "r.parent_run_id"];

const json = (value: unknown): string => (value === undefined ? "null" : JSON.stringify(value));

/** A column as it is. */
export const plain = (name: string): RunField => field([`r.${name}`], (row) => json(row[name]));

/** A column whose text is JSON, sent as it came. */
export const rawJsonColumn = (name: string): RunField =>
  field([`r.${name}`], (row) => (row[name] as string | null | undefined) ?? "null");

export const constant = (text: string): RunField => field([], () => text);

export function field(columns: readonly string[], print: RunField["print"], lookups: readonly Lookup[] = []): RunField {
  return { columns, lookups, print };
}

/** A time column, through what the version of the interface makes of ClickHouse's text. */
export const timeColumn = (name: string, print: (time: string) => string): RunField =>
  field([`r.${name}`], (row) => {
    const value = row[name] as string | null | undefined;
    return value == null ? "null" : json(print(value));
  });

/** v1: naive UTC with six digits. v2: RFC 3339 (contract §0.5). */
export const naive = (time: string): string => time.replace(" ", "T");
export const zulu = (time: string): string => `${naive(time)}Z`;

type Summed = "total_tokens" | "prompt_tokens" | "completion_tokens" | "total_cost" | "prompt_cost" | "completion_cost";

/** Of a root what its whole trace consumed, of any other run what it consumed itself (contract §1.9). */
export function consumed(row: Row, related: Partial<Related>, name: Summed): number | string | null {
  const totals = row.parent_run_id == null ? related.totals?.get(row.trace_id!) : undefined;
  return totals ? totals[`trace_${name}`] : ((row[name] as number | string | null | undefined) ?? null);
}

export const STATUS_COLUMN = `${RUN_STATUS} as run_status`;

/** From the root to the parent. */
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

export function tierOf(row: Row, related: Partial<Related>, context: PrintContext): "longlived" | "shortlived" {
  const own = row.trace_tier as "longlived" | "shortlived" | null | undefined;
  return own ?? related.tiers?.get(row.project_id)?.trace_tier ?? context.defaultTier;
}

/** Seconds from the start of the run until its trace may be deleted; null when it is kept (retention/). */
export function ttlSeconds(row: Row, related: Partial<Related>, context: PrintContext): number | null {
  const project = related.tiers?.get(row.project_id);
  const tier = project?.trace_tier ?? context.defaultTier;
  const own = project?.retention_days ?? context.retentionDays(tier);
  const days = row.trace_tier == null ? own : longer(context.retentionDays(tierOf(row, related, context)), own, row);
  return days === undefined ? null : days * 86_400;
}

/** A trace that was moved to the longer tier is not kept for less time than it would have been. */
function longer(ofTier: number | undefined, ofProject: number | undefined, row: Row): number | undefined {
  if (row.trace_tier !== "longlived") return ofTier;
  return ofTier === undefined || ofProject === undefined ? undefined : Math.max(ofTier, ofProject);
}

/** Whether the trace is kept for longer than its project says. */
export function isUpgraded(row: Row, related: Partial<Related>, context: PrintContext): boolean {
  const ofProject = related.tiers?.get(row.project_id)?.trace_tier ?? context.defaultTier;
  return row.trace_tier === "longlived" && ofProject === "shortlived";
}
