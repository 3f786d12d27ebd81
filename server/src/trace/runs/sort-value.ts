/** Value of a run that a list is sorted by, and the condition of a page that begins after it. */
import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { type FactSource, findSources, union } from "./fact-source.ts";
import { IS_HEAD, sinceStart } from "../run-rows/clickhouse.ts";
import type { RunScope } from "./run-scope.ts";
import { fromRuns, type RunSelection, time } from "./selection.ts";
import { fromShownUsage } from "./shown-usage.ts";
import { feedbackKeyOf, type SortKey } from "./sort-keys.ts";

/** Characters of a name that are compared. Cursors contain them. */
const NAME_CHARACTERS = 100;

const isOfUsage = (sort: SortKey) => sort === "total_tokens" || sort === "total_cost";

/** Finds where the values of the sort key are read. Copies have the sums of a project's part of a trace. */
export async function sourcesToSort(
  deps: Pick<TraceDeps, "sql" | "settings">,
  scope: RunScope,
  selection: RunSelection,
  sort: SortKey,
): Promise<FactSource[]> {
  if (isOfUsage(sort) && selection.projects?.length !== 1) return [{ scope, selection }];
  return findSources(deps, scope, selection, { sums: false });
}

/**
 * Builds the source of the selected runs with the value of the sort key: columns `project_id`, `start_time`, `id` and
 * `sort_value`, a nullable Float64 or, for names, a String.
 * @param sources of `sourcesToSort`
 */
export function fromSortValues(sources: readonly FactSource[], sort: Exclude<SortKey, "start_time">): Fragment {
  const keys = raw("r.project_id as project_id, r.start_time as start_time, r.id as id");
  const key = feedbackKeyOf(sort);
  if (key !== undefined) {
    const runs = union(sources, ({ scope, selection }) => ch`select ${keys} ${fromRuns(scope, selection)}`);
    return ch`from (select project_id, start_time, id, f.mean as sort_value
      from (${runs}) as k
      left any join (
        select run_id, avg(score) as mean from feedback final
        where tenant_id = ${bind("UUID", sources[0]!.scope.tenantId)} and key = ${bind("String", key)} and score is not null
        group by run_id) as f on f.run_id = k.id)`;
  }
  const values = union(sources, ({ scope, selection }) => {
    if (!isOfUsage(sort)) {
      return ch`select ${keys}, ${raw(VALUES[sort as keyof typeof VALUES])} as sort_value ${fromRuns(scope, selection)}`;
    }
    const name = sort as "total_tokens" | "total_cost";
    return scope.builds
      ? ch`select ${keys}, ${raw(`toFloat64(if(${IS_HEAD}, r.trace_${name}, r.${name}))`)} as sort_value ${fromRuns(scope, selection)}`
      : ch`select project_id, start_time, id, shown as sort_value ${fromShownUsage(scope, selection, name)}`;
  });
  return ch`from (${values})`;
}

const VALUES = {
  latency: `toFloat64(${sinceStart("end_time")})`,
  first_token: `toFloat64(${sinceStart("first_token_time")})`,
  // as readers expect of names: without regard to case
  name: `lowerUTF8(substringUTF8(ifNull(r.name, ''), 1, ${NAME_CHARACTERS}))`,
};

/** Condition on `sort_value`, `start_time` and `id` that a run comes after the position. */
export function beyondRun(
  after: { start_time: MicroTime; id: string; sort_value?: number | string | null } | undefined,
  descending: boolean,
): Fragment {
  if (!after) return raw("true");
  const older = ch`(start_time, id) < (${time(after.start_time)}, ${bind("UUID", after.id)})`;
  return beyondValue(after.sort_value ?? null, descending, older);
}

/** Condition that a row comes after one with this `sort_value`; `older` orders rows with equal values. */
export function beyondValue(after: number | string | null, descending: boolean, older: Fragment): Fragment {
  if (after === null) return ch`sort_value is null and ${older}`;
  const value = bind(typeof after === "string" ? "String" : "Float64", after);
  return ch`(ifNull(sort_value ${raw(descending ? "<" : ">")} ${value} or (sort_value = ${value} and ${older}), true))`;
}
