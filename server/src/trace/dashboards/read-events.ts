import { bind, ch } from "../../base/clickhouse/fragment.ts";
import { findProjectNames } from "../projects/sql.ts";
import { loadScope } from "../runs/load-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromRuns, time } from "../runs/selection.ts";
import { groupColumn } from "../runs/stats.ts";
import type { Events, EventsBody } from "./change-schema.ts";
import { divide, type FactSource, findFacts, union } from "../runs/fact-source.ts";
import { SERIES_SETTINGS } from "./read-series.ts";
import type { SeriesDeps } from "./series-point.ts";
import { boundOf, readGroupBy, readSelection } from "./series-request.ts";

/** A revision is new if it had no trace in this time before the period, or in the length of the period. */
const LEAST_BEFORE_MS = 7 * 86_400_000;
const MAX_EVENTS = 100;
/** Most revisions read: a client may name a new one in each trace. */
const MAX_REVISIONS = 10_000;

/** Reads the revisions whose first traces are in a period, of projects that exist. @throws 422 for an invalid period */
export async function readEvents(
  deps: SeriesDeps,
  tenantId: string,
  { session, start_time, end_time }: EventsBody,
): Promise<Events> {
  const start = new Date(start_time);
  const until = end_time == null ? new Date() : new Date(end_time);
  const length = until.getTime() - start.getTime();
  const since = new Date(start.getTime() - Math.max(length, LEAST_BEFORE_MS));
  const projects = session ?? undefined;
  const selection = readSelection({ projects, since, until, stepSeconds: 86_400 * 366, filters: { runs: "traces" } });
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId), selection);
  const facts = deps.settings.runCopies ? await findFacts(deps.sql, tenantId, { projects, since, until }) : undefined;
  const revisions = union(
    divide(scope, selection, facts, { sums: false }),
    (
      source: FactSource,
    ) => ch`select r.project_id as project, ${groupColumn(readGroupBy({ attribute: "revision" }))} as revision,
      r.start_time as started ${fromRuns(source.scope, source.selection)}`,
  );
  const rows = await readRows<{ project: string; revision: string; first: string }>(
    deps.clickhouse.forTenant(tenantId),
    "dashboards.events",
    ch`select u.project as project, u.revision as revision, toString(min(u.started)) as first from (${revisions}) as u
      where u.revision != '' group by project, revision having min(u.started) >= ${time(boundOf(start))}
      order by min(u.started) desc, revision limit ${bind("UInt32", MAX_EVENTS)}`,
    { ...SERIES_SETTINGS, max_rows_to_group_by: String(MAX_REVISIONS), group_by_overflow_mode: "any" },
  );
  const names = await findProjectNames(deps.sql, tenantId, [...new Set(rows.map(({ project }) => project))]);
  return {
    events: rows
      .filter(({ project }) => names.has(project))
      .toReversed()
      .map(({ project, revision, first }) => ({
        dimension: "revision",
        value: revision,
        session_id: project,
        session_name: names.get(project)!,
        first_seen: `${first.replace(" ", "T")}Z`,
      })),
  };
}
