import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import { readFilter } from "../filter/read-filter.ts";
import { readRuleFilters } from "../rule-candidates/rule-filters.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { ruleConditions } from "../rules/read-rules.ts";
import type { RuleCandidateRun } from "../rules/sql.ts";
import { limited } from "../runs/limited.ts";
import { loadScope } from "../runs/load-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection, time } from "../runs/selection.ts";
import { listRuleProjects } from "./project-sql.ts";

export interface FilteredRuns {
  project_id: string | null;
  dataset_id: string | null;
  filter: string | null;
  trace_filter: string | null;
  tree_filter: string | null;
  group_by: "thread_id" | null;
  /** As in ClickHouse. */
  from: MicroTime;
  to: MicroTime;
}

/** Runs that a rule would match in a period. Null: the rule has no project to look at. */
export interface BackfillSelection {
  scope: RunScope;
  selection: RunSelection;
  /** Whether the rule is on threads: it decides as of the last turn of a thread, whichever of its turns match. */
  isOfThreads: boolean;
}

/** Builds the source of the runs that the rule has to look at: of threads that match, all turns of the period. */
function fromEnqueued({ scope, selection, isOfThreads }: BackfillSelection, more: Fragment[] = []): Fragment {
  if (!isOfThreads) return fromRuns(scope, selection, more);
  const { projects, since, until, is_root, has_thread, is_final } = selection;
  const turns = { projects, since, until, is_root, has_thread, is_final, filters: [ENDED] };
  const key = raw("(r.project_id, r.thread_id)");
  return fromRuns(scope, turns, [...more, ch`${key} in (select ${key} ${fromRuns(scope, selection)})`]);
}

/** Rules look at runs that have ended. */
const ENDED = readFilter("neq(end_time, null)");

/** Builds the selection of a back-fill by the rule's filter, so that only runs that matter are enqueued. */
export async function selectBackfill(
  deps: Pick<TraceDeps, "sql" | "settings" | "projects">,
  tenantId: string,
  rule: FilteredRuns,
): Promise<BackfillSelection | null> {
  const projects = await listRuleProjects(deps.sql, tenantId, rule);
  if (projects.length === 0) return null;
  const conditions = limited(ruleConditions(readRuleFilters(rule), rule.group_by));
  const filters = [...(conditions.filters ?? []), ENDED];
  const selection = { ...conditions, projects, since: rule.from, until: rule.to, filters };
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId), selection);
  return { scope, selection, isOfThreads: rule.group_by !== null };
}

/** Counts the runs that match, their threads, or the runs that are enqueued. */
export async function countBackfill(
  clickhouse: ClickHouse,
  found: BackfillSelection,
  unit: "runs" | "threads" | "enqueued",
): Promise<number> {
  const { scope, selection } = found;
  const count = unit === "threads" ? "uniqExact(r.project_id, r.thread_id)" : "count()";
  const source = unit === "enqueued" ? fromEnqueued(found) : fromRuns(scope, selection);
  const [row] = await readRows<{ size: number }>(
    clickhouse.forTenant(scope.tenantId),
    "rules.backfill_count",
    ch`select toFloat64(${raw(count)}) as size ${source}`,
  );
  return row!.size;
}

/** Reads the next keys of the runs that are enqueued, in the order of start time and id. */
export const readBackfillPage = (
  clickhouse: ClickHouse,
  found: BackfillSelection,
  after: { start_time: MicroTime; id: string } | undefined,
  limit: number,
): Promise<RuleCandidateRun[]> => {
  const beyond = after
    ? [
        ch`r.start_time >= ${time(after.start_time)}`,
        ch`(r.start_time > ${time(after.start_time)} or r.id > ${bind("UUID", after.id)})`,
      ]
    : [];
  return readRows<RuleCandidateRun>(
    clickhouse.forTenant(found.scope.tenantId),
    "rules.backfill_page",
    ch`select r.id, r.project_id, r.trace_id, r.start_time ${fromEnqueued(found, beyond)}
      order by r.start_time, r.id limit ${bind("UInt32", limit)}`,
  );
};
