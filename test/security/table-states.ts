import type { Sql } from "../../server/src/base/db/connect.ts";

/** A digest of every row of every table, by table. */
export type TableStates = Map<string, string>;

/** Tables that change without a request: heartbeats, times of key use, sweeps and copies, counters and records of rejected attempts. */
const RESTLESS = new Set([
  "servers",
  "blob_place_users",
  "sign_in_attempts",
  "audit_log",
  "sweeps",
  "control_leader",
  "gateways",
  "run_hours",
  "run_hours_listed",
]);

/**
 * Computes a digest of every row, by table.
 * @param of only rows that name one of these ids; all rows when omitted
 * @param but excludes rows that name this id, which belong to another tenant
 */
export async function tableStates(sql: Sql, of: string[] = [""], but: string | null = null): Promise<TableStates> {
  const states: TableStates = new Map();
  for (const name of await steadyTables(sql)) {
    const [row] = await sql<{ state: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(line, ',' order by line)), '') as state
      from (select (to_jsonb(t) - 'last_used_at')::text as line from ${sql(name)} t) lines
      where exists (select 1 from unnest(${of}::text[]) as id where strpos(line, id) > 0 or id = '')
        and (${but}::text is null or strpos(line, ${but}) = 0)`;
    states.set(name, row!.state);
  }
  return states;
}

/** Returns the rows that name one of these ids, as JSON by table, in the same way. */
export async function tableRows(sql: Sql, of: string[], but: string): Promise<Map<string, string[]>> {
  const rows = new Map<string, string[]>();
  for (const name of await steadyTables(sql)) {
    const lines = await sql<{ line: string }[]>`
      select line from (select (to_jsonb(t) - 'last_used_at')::text as line from ${sql(name)} t) lines
      where exists (select 1 from unnest(${of}::text[]) as id where strpos(line, id) > 0) and strpos(line, ${but}) = 0
      order by line`;
    if (lines.length > 0)
      rows.set(
        name,
        lines.map(({ line }) => line),
      );
  }
  return rows;
}

async function steadyTables(sql: Sql): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') order by 1`;
  return tables.map(({ name }) => name).filter((name) => !RESTLESS.has(name));
}

export const changedTables = (before: TableStates, after: TableStates): string[] =>
  [...after.keys()].filter((name) => before.get(name) !== after.get(name));
