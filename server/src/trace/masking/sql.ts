import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { CreateBody } from "./schema.ts";

export interface MaskingRow extends CreateBody {
  tenant_id: string;
  rule_id: string;
  /** Name of its project; null also when that is gone. */
  project_name: string | null;
}

/** Lists the enabled rules of a workspace in the order of their creation. */
export const selectEnabled = (sql: Sql, tenantId: string): Promise<MaskingRow[]> => sql<MaskingRow[]>`
  select m.tenant_id, m.rule_id, m.name, m.project_id, m.is_enabled, m.fields, m.path, m.detectors, m.pattern,
    m.replacement, p.name as project_name
  from masking_rules m left join projects p on p.tenant_id = m.tenant_id and p.project_id = m.project_id
  where m.tenant_id = ${tenantId} and m.is_enabled order by m.created_at, m.rule_id`;

/** Lists rules as JSON text, with what they masked in the last 30 days. `id`: only that one. */
export async function selectRulesJson(sql: Sql, tenantId: string, id?: string): Promise<string> {
  const [row] = await sql<{ json: string }[]>`
    select coalesce(json_agg(json_build_object('id', m.rule_id, 'name', m.name, 'project_id', m.project_id,
      'is_enabled', m.is_enabled, 'fields', m.fields, 'path', m.path, 'detectors', m.detectors, 'pattern', m.pattern,
      'replacement', m.replacement, 'created_at', m.created_at, 'updated_at', m.updated_at,
      'masked_runs', coalesce(c.runs, 0), 'masked_values', coalesce(c.replaced, 0))
      order by m.created_at, m.rule_id), '[]')::text as json
    from masking_rules m left join lateral (
      select sum(runs)::bigint as runs, sum(replaced)::bigint as replaced from masking_counts c
      where c.tenant_id = m.tenant_id and c.rule_id = m.rule_id and c.day > (now() at time zone 'UTC')::date - 30) c on true
    where m.tenant_id = ${tenantId} ${id === undefined ? sql`` : sql`and m.rule_id = ${id}`}`;
  return row!.json;
}

type NewRule = CreateBody & { tenant_id: string; rule_id: string; created_by: string | null };

/** @returns false when the workspace already has `max` rules */
export async function insertRule(sql: Sql, row: NewRule, max: number): Promise<boolean> {
  const inserted = await sql`
    insert into masking_rules (tenant_id, rule_id, name, project_id, is_enabled, fields, path, detectors, pattern,
      replacement, created_by)
    select ${row.tenant_id}, ${row.rule_id}, ${row.name}, ${row.project_id}::uuid, ${row.is_enabled},
      ${row.fields}::text[], ${row.path}, ${row.detectors}::text[], ${row.pattern}, ${row.replacement},
      ${row.created_by}::uuid
    where (select count(*) from masking_rules where tenant_id = ${row.tenant_id}) < ${max}
    returning 1`;
  return inserted.length > 0;
}

export async function lockRule(tx: Transaction, tenantId: string, id: string): Promise<CreateBody | undefined> {
  const [row] = await tx<CreateBody[]>`
    select name, project_id, is_enabled, fields, path, detectors, pattern, replacement from masking_rules
    where tenant_id = ${tenantId} and rule_id = ${id} for update`;
  return row;
}

export async function updateRule(tx: Transaction, tenantId: string, id: string, row: CreateBody): Promise<void> {
  await tx`
    update masking_rules set name = ${row.name}, project_id = ${row.project_id}::uuid, is_enabled = ${row.is_enabled},
      fields = ${row.fields}::text[], path = ${row.path}, detectors = ${row.detectors}::text[], pattern = ${row.pattern},
      replacement = ${row.replacement}, updated_at = greatest(updated_at, clock_timestamp())
    where tenant_id = ${tenantId} and rule_id = ${id}`;
}

/** @returns false when there is none */
export async function deleteRule(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from masking_rules where tenant_id = ${tenantId} and rule_id = ${id} returning 1`;
  return deleted.length > 0;
}

export const deleteMaskingOfWorkspace = (sql: Sql | Transaction, tenantId: string): Promise<unknown> =>
  sql`delete from masking_rules where tenant_id = ${tenantId}`;

export interface MaskingCount {
  tenant_id: string;
  rule_id: string;
  runs: number;
  replaced: number;
}

/** Adds to the counts of today. Rules that are gone are left out. */
export async function addCounts(sql: Sql, counts: readonly MaskingCount[]): Promise<void> {
  await sql`
    insert into masking_counts (tenant_id, rule_id, day, runs, replaced)
    select g.tenant_id, g.rule_id, (now() at time zone 'UTC')::date, g.runs, g.replaced
    from unnest(${counts.map((each) => each.tenant_id)}::text[]::uuid[],
      ${counts.map((each) => each.rule_id)}::text[]::uuid[], ${counts.map((each) => String(each.runs))}::text[]::bigint[],
      ${counts.map((each) => String(each.replaced))}::text[]::bigint[]) as g (tenant_id, rule_id, runs, replaced)
    join masking_rules m on m.tenant_id = g.tenant_id and m.rule_id = g.rule_id
    order by 1, 2
    on conflict (tenant_id, rule_id, day) do update
      set runs = masking_counts.runs + excluded.runs, replaced = masking_counts.replaced + excluded.replaced`;
}
