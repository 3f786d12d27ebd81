/**
 * Measures a rule's metric at ticks: each over the window that ends with it. Windows may overlap, so a run counts in
 * several; one statement reads all of them, for the evaluation as for the preview and the chart.
 */
import { bind, ch, raw } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import { divide as divideSources, findFacts, union } from "../runs/fact-source.ts";
import { selectGrouped, SERIES_SETTINGS } from "../dashboards/read-series.ts";
import { readGroupBy } from "../dashboards/series-request.ts";
import { readCounted } from "../rule-candidates/rule-filters.ts";
import { readFilter } from "../filter/read-filter.ts";
import { fromMicros } from "../run-rows/times.ts";
import { loadScope } from "../runs/load-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { RunSelection } from "../runs/selection.ts";
import {
  type AlertDefinition,
  type Aggregation,
  type Attribute,
  expressionFor,
  isPlatformMetric,
} from "./definition.ts";
import { readPlatformMetric } from "./platform-metrics.ts";
import type { Observation } from "./status.ts";

/** Groups of a tick, those with the most runs. */
export const MAX_GROUPS = 100;
const MAX_ROWS = 100_000;
/** Length of a period from which copies of its hours are read: of a shorter one, most of the runs are not copied yet. */
const COPIES_FROM_MS = 3 * 3_600_000;

/** Name of a group as Postgres can store and index it: thread ids are text of any length. */
export const GROUP_NAME = raw(
  "replaceAll(if(length(grp) <= 1000, grp, concat(substringUTF8(grp, 1, 200), '…', toString(cityHash64(grp)))), '\\0', ' ')",
);

/** Equidistant times, in milliseconds since 1970. */
export interface Ticks {
  first: number;
  count: number;
  step: number;
}

export interface MeasuredRule {
  tenant_id: string;
  project_id: string | null;
  definition: AlertDefinition;
}

/** What each tick observed, by group. Groups without runs are missing. */
export type Observations = Map<string, Observation>[];

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "projects" | "settings" | "health" | "agentFigures">;

/** Of a metric of the platform, which has no past, `ticks` is the present one. */
export async function readObservations(deps: Deps, rule: MeasuredRule, ticks: Ticks): Promise<Observations> {
  const { definition } = rule;
  const minutes = (count: number) => count * 60_000;
  if (isPlatformMetric(definition.attribute)) {
    const until = new Date(ticks.first);
    const since = new Date(ticks.first - minutes(definition.window_minutes));
    const value = await readPlatformMetric(deps, definition.attribute, { since, until });
    return [new Map([["", { runs: 0, value, baseline: null }]])];
  }
  const window = minutes(definition.window_minutes);
  const shifted = { ...ticks, first: ticks.first - minutes(definition.delay_minutes) };
  const { attribute, aggregation } = definition;
  const own = { attribute, aggregation, filter: definition.filter };
  const isRatio = aggregation === "pct";
  const runs: Metric = { attribute: "run_count", aggregation: "sum", filter: null };
  const denominator = { ...runs, filter: definition.denominator_filter ?? definition.filter };
  const reader = { deps, rule };
  const base = minutes(definition.threshold_window_minutes ?? definition.window_minutes);
  const measure = async (at: Ticks, length: number) => {
    const [values, whole] = await Promise.all([
      readSeries(reader, own, at, length),
      isRatio ? readSeries(reader, denominator, at, length) : Promise.resolve(undefined),
    ]);
    return whole ? divide(values, whole) : values;
  };
  const [values, baselines] = await Promise.all([
    measure(shifted, window),
    definition.type === "change" ? measure({ ...shifted, first: shifted.first - window }, base) : undefined,
  ]);
  return values.map((groups, index) => {
    const before = baselines?.[index];
    const names = new Set([...groups.keys(), ...(before?.keys() ?? [])]);
    return new Map(
      Array.from(names, (name) => [
        name,
        {
          runs: groups.get(name)?.runs ?? 0,
          value: groups.get(name)?.value ?? null,
          baseline: before?.get(name)?.value ?? null,
        },
      ]),
    );
  });
}

interface Metric {
  attribute: Attribute;
  aggregation: Aggregation;
  filter: string | null;
}

type Series = Map<string, { runs: number; value: number | null }>[];

const divide = (values: Series, whole: Series): Series =>
  whole.map((groups, index) => {
    const parts = values[index]!;
    return new Map(
      Array.from(groups, ([name, { runs }]) => [name, { runs, value: (100 * (parts.get(name)?.value ?? 0)) / runs }]),
    );
  });

async function readSeries(
  { deps, rule }: { deps: Deps; rule: MeasuredRule },
  { attribute, aggregation, filter }: Metric,
  { first, count, step }: Ticks,
  window: number,
): Promise<Series> {
  const [since, until] = [first - window, first + (count - 1) * step];
  const expression = filter === null || filter.trim() === "" ? undefined : readFilter(filter);
  const selection: RunSelection = {
    ...(rule.project_id !== null && { projects: [rule.project_id] }),
    since: fromMicros(since * 1000)!,
    before: fromMicros(until * 1000)!,
    ...(expression && readCounted(expression)),
  };
  const scope = await loadScope(deps, RunScope.ofTenant(rule.tenant_id), selection);
  const isFeedback = attribute === "feedback_score";
  const needsTotals = /cost|tokens/.test(attribute);
  const facts =
    deps.settings.runCopies && until - since > COPIES_FROM_MS
      ? await findFacts(deps.sql, rule.tenant_id, {
          projects: selection.projects,
          since: new Date(since),
          until: new Date(until),
        })
      : undefined;
  const grouping = readGroupBy(rule.definition.group_by);
  const kind = isFeedback ? "feedback_count" : needsTotals ? "total_cost" : "run_count";
  const units = union(divideSources(scope, selection, facts, { sums: needsTotals }), (part) =>
    selectGrouped(part, grouping, { feedback_key: rule.definition.feedback_key }, [kind]),
  );
  const micros = (ms: number) => bind("Int64", ms * 1000);
  // start of the run after that of the first window; it is in the windows of ticks lo to hi
  const place = ch`(toUnixTimestamp64Micro(n.started) - ${micros(first - window)})`;
  const lo = ch`if(${place} < ${micros(window)}, 0, intDiv(${place} - ${micros(window)}, ${micros(step)}) + 1)`;
  const hi = ch`least(${bind("Int64", count)}, intDiv(${place}, ${micros(step)}) + 1)`;
  const value = expressionFor(attribute, aggregation)!;
  const statement = ch`
    select ${GROUP_NAME} as group_name, tick, count() as runs, toFloat64(${raw(value)}) as value
    from (select n.*, arrayJoin(range(toInt64(${lo}), toInt64(${hi}))) as tick from (${units}) as n
      ${raw(isFeedback ? "where n.score is not null" : "")}) as ${raw(isFeedback ? "f" : "u")}
    group by group_name, tick order by runs desc, group_name
    limit ${bind("UInt32", MAX_GROUPS)} by tick limit ${bind("UInt32", MAX_ROWS)}`;
  const rows = await readRows<{
    group_name: string;
    tick: number | string;
    runs: number | string;
    value: number | null;
  }>(deps.clickhouse.forTenant(rule.tenant_id), "alerts.series", statement, SERIES_SETTINGS);
  const series: Series = Array.from({ length: count }, () => new Map());
  for (const { group_name, tick, runs, value: measured } of rows) {
    const isNumber = typeof measured === "number" && Number.isFinite(measured);
    series[Number(tick)]!.set(group_name, { runs: Number(runs), value: isNumber ? measured : null });
  }
  return series;
}
