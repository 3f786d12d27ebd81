/** The report of a job, in words. It is computed, not written by a model, so that its numbers are those of the tree. */
import type { ClusterRow, ClusterStats } from "./cluster-sql.ts";
import type { ClaimedJob } from "./queue-sql.ts";
import type { Report } from "./schema.ts";

const MAX_POINTS = 6;
const MAX_CHANGES = 3;
/** Points of percentage from which a change, a new cluster or a difference of error rates is mentioned. */
const NOTABLE = 0.03;

interface MeasuredCluster {
  cluster: ClusterRow;
  stats: ClusterStats;
}

export function writeReport(
  job: Pick<ClaimedJob, "options" | "sampled" | "population">,
  all: MeasuredCluster[],
): Report {
  const top = all.filter(({ cluster }) => cluster.level === 0).toSorted((a, b) => share(b) - share(a));
  const leaves = all.filter(({ cluster }) => cluster.is_leaf);
  const what = job.options.subject === "questions" ? "questions" : "failures";
  return {
    title: `${leaves.length} ${leaves.length === 1 ? "kind" : "kinds"} of ${what} in ${job.population ?? 0} ${units(job)}`,
    key_points: keyPoints(job, top, leaves).slice(0, MAX_POINTS),
    highlighted_traces: top.flatMap(({ cluster, stats }, rank) => {
      const [run] = stats.central_run_ids ?? [];
      if (run === undefined) return [];
      const highlight_reason = `Most typical of "${cluster.name}"`;
      const of = { cluster_id: cluster.id, cluster_name: cluster.name };
      return [{ run_id: run, ...of, rank: rank + 1, highlight_reason, summary: null }];
    }),
    created_at: new Date().toISOString(),
  };
}

function keyPoints(job: Pick<ClaimedJob, "options">, top: MeasuredCluster[], leaves: MeasuredCluster[]): string[] {
  const points: string[] = [];
  const [largest] = top;
  if (!largest) return points;
  points.push(`"${largest.cluster.name}" is the largest group: ${percent(share(largest))} of all ${units(job)}.`);
  points.push(...changes(top, leaves));
  if (job.options.subject === "questions") {
    const total = leaves.reduce((sum, { stats }) => sum + (stats.estimated_runs ?? 0), 0);
    const failed = leaves.reduce((sum, { stats }) => sum + (stats.estimated_runs ?? 0) * (stats.error_rate ?? 0), 0);
    const overall = total === 0 ? 0 : failed / total;
    const worst = leaves.toSorted((a, b) => (b.stats.error_rate ?? 0) - (a.stats.error_rate ?? 0))[0];
    if (worst && (worst.stats.error_rate ?? 0) > overall + NOTABLE) {
      const rate = percent(worst.stats.error_rate ?? 0);
      points.push(
        `"${worst.cluster.name}" fails most often: ${rate} of its ${units(job)}, ${percent(overall)} overall.`,
      );
    }
  }
  return points;
}

/** "Billing" grew from 12 % to 19 %. */
function changes(top: MeasuredCluster[], leaves: MeasuredCluster[]): string[] {
  const candidates = [...new Set([...top, ...leaves])];
  const moved = candidates
    .flatMap((each) => {
      const before = each.stats.previous?.share;
      return before == null ? [] : [{ each, before, change: share(each) - before }];
    })
    .filter(({ change }) => Math.abs(change) >= NOTABLE)
    .toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change))
    .slice(0, MAX_CHANGES)
    .map(
      ({ each, before, change }) =>
        `"${each.cluster.name}" ${change > 0 ? "grew" : "shrank"} from ${percent(before)} to ${percent(share(each))}.`,
    );
  const fresh = leaves
    .filter(({ stats }) => stats.compared && stats.previous == null && (stats.share ?? 0) >= NOTABLE)
    .slice(0, 2)
    .map((each) => `"${each.cluster.name}" is new: ${percent(share(each))}.`);
  return [...moved, ...fresh];
}

const share = ({ stats }: MeasuredCluster): number => stats.share ?? 0;
const percent = (value: number): string => `${Math.round(100 * value)} %`;
const units = ({ options }: Pick<ClaimedJob, "options">): string =>
  options.subject === "failures" ? "failures" : options.unit === "threads" ? "threads" : "runs";
