/** Reads what traces cost, by day and user. */
import { bind, ch } from "../../base/clickhouse/fragment.ts";
import { GROUP_NAME } from "../alerts/read-metric.ts";
import type { TraceDeps } from "../deps.ts";
import { readFilter } from "../filter/read-filter.ts";
import { fromMicros } from "../run-rows/times.ts";
import { loadScope } from "../runs/load-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { RunSelection } from "../runs/selection.ts";
import { selectUnits } from "../runs/stats.ts";
import type { AlertRule } from "../alerts/sql.ts";
import type { DaySpend, Period } from "./sql.ts";

/** Users of a day that are recorded, those with the highest spend; the whole counts all. */
const MAX_USERS = 5000;

/** Reads the spend of consecutive days. A trace belongs to the day on which its head begins. */
export async function readSpend(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "projects" | "settings">,
  { tenant_id, project_id, definition, budget }: AlertRule,
  days: readonly [Period, ...Period[]],
): Promise<DaySpend[]> {
  const micros = (ms: number) => fromMicros(ms * 1000)!;
  const selection: RunSelection = {
    ...(project_id !== null && { projects: [project_id] }),
    since: micros(days[0].since),
    before: micros(days.at(-1)!.until),
    is_head: true,
    ...(definition.filter !== null && { filters: [readFilter(definition.filter)] }),
  };
  const scope = await loadScope(deps, RunScope.ofTenant(tenant_id), selection);
  const units = selectUnits(scope, selection, { attribute: "metadata", path: budget!.user_key, withTotal: true });
  const edges = bind(
    "Array(Int64)",
    days.map(({ since }) => since * 1000),
  );
  const statement = ch`
    select toUInt32(indexOf(${edges}, roundDown(toUnixTimestamp64Micro(u.started), ${edges}))) as place,
      ${GROUP_NAME} as group_name, sum(toFloat64(u.total_cost)) as spent
    from (${units}) as u group by place, group_name having group_name = '' or spent > 0
    order by spent desc, group_name limit ${bind("UInt32", MAX_USERS + 1)} by place`;
  const rows = await readRows<{ place: number; group_name: string; spent: number | null }>(
    deps.clickhouse.forTenant(tenant_id),
    "budgets.spend",
    statement,
    { use_skip_indexes: 0 },
  );
  const spends = rows.map(({ place, group_name, spent }) => {
    return { day: days[Number(place) - 1]!.name, group_name, spent: spent ?? 0 };
  });
  // a day without runs has been read as well
  const read = new Set(spends.filter(({ group_name }) => group_name === "").map(({ day }) => day));
  const empty = days.filter(({ name }) => !read.has(name));
  return [...spends, ...empty.map(({ name }) => ({ day: name, group_name: "", spent: 0 }))];
}
