import type { operations } from "../../api/trace.d.ts";

export type RunPage = operations["post_api_v1_runs_query"]["responses"][200]["content"]["application/json"];

interface Pages {
  pages: Pick<RunPage, "runs" | "cursors">[];
  pageParams: (string | null)[];
}

/**
 * Merges the newest page into the known ones: changed runs in place, new ones on top. Null when none of the newest is
 * known although there are runs, so that others may lie between.
 */
export function mergeNewest(known: Pages, newest: Pick<RunPage, "runs" | "cursors">): Pages | null {
  const fresh = new Map(newest.runs.map((run) => [run.id, run]));
  const [first] = known.pages;
  if (!first) return known;
  if (newest.runs.length === 0) return known;
  let isChanged = false;
  const pages = known.pages.map((page) => ({
    ...page,
    runs: page.runs.map((run) => {
      const now = fresh.get(run.id);
      if (!now) return run;
      fresh.delete(run.id);
      if (isSameRun(run, now)) return run;
      isChanged = true;
      return now;
    }),
  }));
  if (fresh.size === 0 && !isChanged) return known;
  if (fresh.size === newest.runs.length && first.runs.length > 0 && newest.cursors.next !== null) return null;
  pages[0]!.runs = [...fresh.values(), ...pages[0]!.runs].sort((a, b) => (a.start_time < b.start_time ? 1 : -1));
  return { ...known, pages };
}

/** Whether two versions of an active run agree in the fields that a row shows. */
function isSameRun(a: RunPage["runs"][number], b: RunPage["runs"][number]): boolean {
  return (
    a.status === b.status &&
    a.end_time === b.end_time &&
    a.total_tokens === b.total_tokens &&
    a.outputs_preview === b.outputs_preview &&
    JSON.stringify(a.feedback_stats) === JSON.stringify(b.feedback_stats)
  );
}
