/** Series of the metrics that agent servers send (trace/agent-metrics). */
import { all, bind, ch, type Fragment, join, raw } from "../../base/clickhouse/fragment.ts";
import { binnedPercentile } from "../../base/duration-bins.ts";
import { unprocessable } from "../../base/errors.ts";
import { readFilter } from "../filter/read-filter.ts";
import { readRows } from "../runs/read-rows.ts";
import { compileAgentFilter } from "./agent-filter.ts";
import { AGENT_GROUPS, AGENT_METRICS, type AgentMetric, type AgentMetricName } from "./agent-metrics.ts";
import {
  DEFAULT_GROUPS,
  type SeriesDeps,
  type SeriesPoint,
  type SeriesRow,
  type SeriesValue,
  toPoints,
} from "./series-point.ts";
import { MAX_POINTS, OTHER, type SeriesRequest } from "./series-request.ts";

/** Reads metrics of one kind about the same projects, steps and groups. */
export async function readAgentSeries(
  { clickhouse }: Pick<SeriesDeps, "clickhouse">,
  tenantId: string,
  request: SeriesRequest,
  metrics: readonly AgentMetricName[],
  bucket: Fragment,
): Promise<SeriesPoint[][]> {
  const { projects, since, until, group_by: by, filters } = request;
  const { kind } = AGENT_METRICS[metrics[0]!];
  const conditions = [
    ch`a.tenant_id = ${bind("UUID", tenantId)}`,
    ch`a.kind = ${bind("String", kind)}`,
    ch`a.minute >= toDateTime(${bind("Int64", Math.floor(since.getTime() / 1000))}, 'UTC')`,
    ch`a.minute < toDateTime(${bind("Int64", Math.ceil(until.getTime() / 1000))}, 'UTC')`,
  ];
  if (projects) conditions.push(ch`a.project_id in ${bind("Array(UUID)", projects)}`);
  if (filters?.filter) {
    const passes = compileAgentFilter(readFilter(filters.filter), kind);
    if (!passes) throw unprocessable(`The filter is about runs and does not apply to ${metrics[0]!}.`);
    conditions.push(passes);
  }
  const column = by ? AGENT_GROUPS[by.attribute] : undefined;
  if (by && column === undefined)
    throw unprocessable(
      `Metrics of agents are grouped by graph, assistant, status or project, not by ${by.attribute}.`,
    );
  const rowsOf = ch`select a.*, toDateTime64(a.minute, 6, 'UTC') as started from agent_minutes as a final where ${all(conditions)}`;
  // all servers read the same queue; of a step, the highest reading counts
  const units =
    kind === "queue"
      ? ch`select project_id, ${bucket} as bucket, '' as graph, '' as assistant, '' as status, max(u.count) as count,
          max(u.seconds) as seconds from (${rowsOf}) as u group by project_id, bucket`
      : ch`select u.*, ${bucket} as bucket from (${rowsOf}) as u`;
  const largest = ch`select ${raw(column ?? "''")} as grp from (${units}) as m group by grp
    order by sum(m.count) desc, grp limit ${bind("UInt32", by?.max_groups ?? DEFAULT_GROUPS)}`;
  const group = column
    ? ch`if(${raw(column)} in (${largest}), ${raw(column)}, ${bind("String", OTHER)})`
    : raw("cast(null as Nullable(String))");
  const values = metrics.map((metric, i) => raw(`${AGENT_METRICS[metric].value} as m${i}`));
  const rows = await readRows<SeriesRow>(
    clickhouse.forTenant(tenantId),
    "dashboards.agent_series",
    ch`select m.bucket as bucket, ${group} as group_name, ${join(values, ", ")} from (${units}) as m
      group by bucket, group_name order by bucket, group_name limit ${bind("UInt32", MAX_POINTS + 1)}`,
  );
  return toPoints(rows, metrics, (metric, value) => toValue(AGENT_METRICS[metric], value));
}

function toValue({ percentile: level }: AgentMetric, value: unknown): SeriesValue {
  if (value === null || value === undefined) return null;
  return level === undefined ? Number(value) : binnedPercentile(value as Record<string, number>, level);
}
