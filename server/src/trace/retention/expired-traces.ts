import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, raw, render } from "../../base/clickhouse/fragment.ts";
import { type MicroTime, parseTime } from "../run-rows/times.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromRuns, time } from "../runs/selection.ts";
import type { TraceSettings } from "../settings.ts";
import type { ProjectTier } from "./sql.ts";

const DAY_MS = 86_400_000;

/** Cutoff start times by a trace's own tier; undefined: never expires. */
export interface Cutoffs {
  longlived: MicroTime | undefined;
  shortlived: MicroTime | undefined;
  /** Cutoff of traces without a tier. */
  project: MicroTime | undefined;
}

export function retentionCutoffs(
  project: Pick<ProjectTier, "trace_tier" | "retention_days">,
  settings: Pick<TraceSettings, "traceTier" | "longlivedDays" | "shortlivedDays">,
  now: number,
): Cutoffs {
  const cutoff = (days: number) => (days === 0 ? undefined : parseTime(now - days * DAY_MS));
  const longlived = cutoff(settings.longlivedDays);
  const shortlived = cutoff(settings.shortlivedDays);
  const tier = project.trace_tier ?? settings.traceTier;
  const own = project.retention_days === null ? { longlived, shortlived }[tier] : cutoff(project.retention_days);
  // moving a trace to the longer tier never shortens its retention
  const extended = longlived === undefined || own === undefined ? undefined : longlived < own ? longlived : own;
  return { longlived: extended, shortlived, project: own };
}

/** Returns the latest cutoff: traces after it need not be examined. */
export const latest = (cutoffs: Cutoffs): MicroTime | undefined =>
  Object.values(cutoffs)
    .filter((time): time is MicroTime => time !== undefined)
    .toSorted()
    .at(-1);

/**
 * Finds traces of a project that began before their cutoff. A trace begins with its first run, so that it is deleted as
 * a whole, even if its root never arrived.
 */
export async function findExpired(
  clickhouse: ClickHouse,
  scope: RunScope,
  projectId: string,
  cutoffs: Cutoffs,
  limit: number,
): Promise<string[]> {
  const before = latest(cutoffs);
  if (before === undefined) return [];
  const orNever = (cutoff: MicroTime | undefined): Fragment =>
    cutoff === undefined ? raw("false") : ch`first < ${time(cutoff)}`;
  const statement = ch`
    select r.trace_id as trace, min(r.start_time) as first, any(r.trace_tier) as tier
    ${fromRuns(scope, { projects: [projectId], before })}
    group by trace
    having multiIf(ifNull(tier, '') = 'longlived', ${orNever(cutoffs.longlived)},
      ifNull(tier, '') = 'shortlived', ${orNever(cutoffs.shortlived)}, ${orNever(cutoffs.project)})
    limit ${bind("UInt32", limit)}`;
  const rows = await clickhouse.rows<{ trace: string }>({ name: "retention.expired", ...render(statement) });
  return rows.map((row) => row.trace);
}
