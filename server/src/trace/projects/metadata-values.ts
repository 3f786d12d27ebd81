import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { all, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection } from "../runs/selection.ts";

/** Keys returned if none are requested. */
const MAX_KEYS = 100;

/** Returns the most frequent values of each metadata key of the runs, most frequent first. */
export async function metadataValues(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  { keys, perKey }: { keys: string[] | undefined; perKey: number },
): Promise<Record<string, string[]>> {
  const conditions: Fragment[] = [raw("position(entry, char(31)) > 0")];
  if (keys) conditions.push(ch`substring(entry, 1, position(entry, char(31)) - 1) in ${bind("Array(String)", keys)}`);
  const statement = ch`
    select metadata_key, groupArray(${bind("UInt32", perKey)})(metadata_value) as metadata_values, sum(n) as total
    from (
      select substring(entry, 1, position(entry, char(31)) - 1) as metadata_key,
        substring(entry, position(entry, char(31)) + 1) as metadata_value, count() as n
      from (
        select arrayJoin(splitByChar(char(30), ifNull(r.metadata, ''))) as entry ${fromRuns(scope, selection)}
      ) where ${all(conditions)}
      group by metadata_key, metadata_value
      order by n desc, metadata_value limit ${bind("UInt32", perKey)} by metadata_key
    )
    group by metadata_key order by total desc, metadata_key limit ${bind("UInt32", MAX_KEYS)}`;
  const rows = await readRows<{ metadata_key: string; metadata_values: string[] }>(
    clickhouse.forTenant(scope.tenantId),
    "projects.metadata_values",
    statement,
  );
  return Object.fromEntries(rows.map((row) => [row.metadata_key, row.metadata_values]));
}
