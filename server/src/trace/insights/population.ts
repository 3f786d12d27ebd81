import type { TraceDeps } from "../deps.ts";
import { parseTime } from "../run-rows/times.ts";
import { readFilter } from "../filter/read-filter.ts";
import { limited } from "../runs/limited.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { RunSelection } from "../runs/selection.ts";
import type { Population, Threshold } from "./clickhouse.ts";
import type { JobOptions } from "./options.ts";
import { listScoreRules } from "./score-sql.ts";

/** Returns the units that a job is about. @throws FilterError (400), and 422 for too many conditions */
export async function loadPopulation(
  deps: Pick<TraceDeps, "sql" | "projects" | "settings">,
  tenantId: string,
  projectId: string,
  options: Pick<JobOptions, "start_time" | "end_time" | "filter" | "unit">,
): Promise<{ scope: RunScope; population: Population }> {
  const { start_time, end_time, filter, unit } = options;
  const selection: RunSelection = limited({
    projects: [projectId],
    since: parseTime(start_time)!,
    before: parseTime(end_time)!,
    filters: filter === null || filter === "" ? [] : [readFilter(filter)],
  });
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId), selection);
  const thresholds = (await listScoreRules(deps.sql, tenantId)).map(toThreshold);
  return { scope, population: { selection, unit, thresholds } };
}

/** The middle of the scale; without a scale, 0.5. */
const toThreshold = ({ key, min, max, lower }: Awaited<ReturnType<typeof listScoreRules>>[number]): Threshold => ({
  key,
  middle: min !== null && max !== null && max > min ? (min + max) / 2 : 0.5,
  lowerIsBetter: lower ?? false,
});

/**
 * Divides a sample among the units that failed and the others: in proportion, but a third of the sample at least are
 * failures while there are such.
 */
export function divideSample(
  sample: number,
  { all, failed }: { all: number; failed: number },
): { failed: number; others: number } {
  const size = Math.min(sample, all);
  if (all === 0) return { failed: 0, others: 0 };
  const share = Math.max(Math.round((size * failed) / all), Math.ceil(size / 3));
  const first = Math.min(failed, share);
  const others = Math.min(all - failed, size - first);
  return { failed: Math.min(failed, size - others), others };
}

/** Returns the number of units of a sample: a number, or a share of all. */
export const sampleSize = (sample: number, all: number, max: number): number =>
  Math.min(max, sample < 1 ? Math.max(1, Math.round(all * sample)) : sample);
