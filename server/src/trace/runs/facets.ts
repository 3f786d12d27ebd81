/**
 * Facets of runs: the most frequent names, types, outcomes, tags and metadata of a selection, each with the filter
 * expression that selects its runs. Used for the shortcuts beside a list of runs.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, raw, render } from "../../base/clickhouse/fragment.ts";
import { RUN_TYPE, runStatus } from "../run-rows/clickhouse.ts";
import type { RunScope } from "./run-scope.ts";
import { fromRuns, type RunSelection } from "./selection.ts";

export interface Facet extends Record<string, unknown> {
  key: string;
  value: string;
  n: number;
  /** Filter expression (docs/filter-language.md). */
  query: string;
}

/** Values returned per key, the most frequent ones. */
const PER_KEY = 10;
const MAX_FACETS = 200;
const MAX_ROWS = 20_000;
/** Prefix of metadata keys, which may be equal to a field's name. */
const METADATA = "metadata.";

/** Returns facets by project, or under "" for all projects; most frequent first, at most 200 each. */
export async function findFacets(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  by: "project" | "all",
): Promise<Map<string, Facet[]>> {
  // metadata entries are `key␟value` between separators (pairs.ts)
  const statement = ch`
    select toString(project) as project, facet.1 as key, facet.2 as value, count() as n
    from (
      select ${raw(by === "project" ? "r.project_id" : "''")} as project, arrayJoin(arrayConcat(
        [('name', ifNull(r.name, '')), ('run_type', ${raw(RUN_TYPE)}),
         ('status', ${raw(`cast(assumeNotNull(${runStatus(scope.incompleteHours)}) as String)`)})],
        arrayMap(tag -> ('tags', tag), splitByChar(char(30), ifNull(r.tags, ''))),
        arrayMap(entry -> (concat(${bind("String", METADATA)}, splitByChar(char(31), entry)[1]),
          splitByChar(char(31), entry)[2]), splitByChar(char(30), ifNull(r.metadata, '')))
      )) as facet
      ${fromRuns(scope, selection)}
    )
    where value != ''
    group by project, key, value
    order by n desc, key, value
    limit ${bind("UInt32", PER_KEY)} by project, key
    limit ${bind("UInt32", MAX_ROWS)}`;
  const rows = await clickhouse.rows<{ project: string; key: string; value: string; n: number | string }>({
    name: "runs.facets",
    ...render(statement),
  });
  const found = new Map<string, Facet[]>();
  for (const { project, key, value, n } of rows) {
    const facets = found.get(project) ?? [];
    found.set(project, facets);
    if (facets.length === MAX_FACETS) continue;
    const name = key.startsWith(METADATA) ? key.slice(METADATA.length) : key;
    facets.push({ key: name, value, n: Number(n), query: facetQuery(key, value) });
  }
  return found;
}

function facetQuery(key: string, value: string): string {
  const text = JSON.stringify(value);
  if (key === "tags") return `has(tags, ${text})`;
  if (!key.startsWith(METADATA)) return `eq(${key}, ${text})`;
  const name = JSON.stringify(key.slice(METADATA.length));
  return `and(eq(metadata_key, ${name}), eq(metadata_value, ${text}))`;
}
