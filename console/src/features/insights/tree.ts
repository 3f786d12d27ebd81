import type { ClusterStats } from "./queries.ts";

/** Orders clusters so that children follow their parent, the largest first. */
export function inTreeOrder<C extends { id: string; parent_id: string | null; num_runs: number; stats: ClusterStats }>(
  clusters: readonly C[],
): C[] {
  const size = ({ stats, num_runs: runs }: C) => stats.share ?? runs;
  const below = (parent: string | null): C[] =>
    clusters
      .filter(({ parent_id: id }) => id === parent)
      .toSorted((a, b) => size(b) - size(a))
      .flatMap((cluster) => [cluster, ...below(cluster.id)]);
  return below(null);
}

const whole = (share: number): string => `${Math.round(100 * share)} %`;

/** Says how the share changed since the previous job: `was 12 %`; null without one. */
export function trendOf({ share, previous, compared }: ClusterStats): string | null {
  if (!compared || share === undefined) return null;
  if (previous == null) return "new";
  if (previous.share === null) return null;
  const [before, now] = [Math.round(100 * previous.share), Math.round(100 * share)];
  if (before === now) return "as before";
  return `${now > before ? "▲" : "▼"} was ${whole(previous.share)}`;
}

/** Compares with the previous job in a sentence. */
export function compareInWords(name: string, stats: ClusterStats): string | null {
  const { share, previous } = stats;
  if (!stats.compared || share === undefined) return null;
  if (previous == null) return `"${name}" did not occur in the previous job.`;
  if (previous.share === null) return null;
  const [before, now] = [whole(previous.share), whole(share)];
  const verb = share > previous.share ? "grew" : "shrank";
  const renamed = previous.name === name ? "" : ` It was called "${previous.name}".`;
  return before === now ? `Its share stayed at ${now}.${renamed}` : `It ${verb} from ${before} to ${now}.${renamed}`;
}
