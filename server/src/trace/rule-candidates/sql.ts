import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { FilterTexts } from "./rule-filters.ts";

/** What ingest needs of an enabled rule. */
export interface EnabledRule extends FilterTexts {
  tenant_id: string;
  rule_id: string;
  project_id: string | null;
  dataset_id: string | null;
  group_by: "thread_id" | null;
  sampling_rate: number;
}

/** Lists the enabled rules of workspaces. Served by the primary key; workspaces have few rules. */
export const selectEnabledRules = (sql: Sql, tenants: readonly string[]): Promise<EnabledRule[]> =>
  sql<EnabledRule[]>`
    select tenant_id, rule_id, project_id, dataset_id, group_by, filter, trace_filter, tree_filter,
      sampling_rate
    from rules
    where tenant_id = any(${tenants as string[]}::text[]::uuid[]) and is_enabled`;

export interface ProjectFacts {
  tenant_id: string;
  project_id: string;
  dataset_id: string | null;
  /** Whether it holds the traces of evaluators, which no rule sees. */
  is_internal: boolean;
}

/** Finds projects by workspace and id. Projects that were deleted are left out. */
export async function selectProjectFacts(
  sql: Sql | Transaction,
  projects: readonly { tenant_id: string; project_id: string }[],
): Promise<ProjectFacts[]> {
  if (projects.length === 0) return [];
  return sql<ProjectFacts[]>`
    select p.tenant_id, p.project_id, p.reference_dataset_id as dataset_id, p.of_evaluators as is_internal
    from unnest(${projects.map((row) => row.tenant_id)}::text[]::uuid[],
      ${projects.map((row) => row.project_id)}::text[]::uuid[]) as g (tenant_id, project_id)
    join projects p on p.tenant_id = g.tenant_id and p.project_id = g.project_id`;
}

export interface CandidateRow {
  tenant_id: string;
  project_id: string;
  run_id: string;
  trace_id: string;
  /** `YYYY-MM-DD hh:mm:ss.ffffff` in UTC. */
  start_time: string;
  /** Rules that have to look at the run. */
  rule_ids: string[];
  /** `updated_at` of the run's row, where a replica may not have it yet. */
  written_at?: string | undefined;
}

/** Finds those of these runs that have feedback. Served by feedback_by_run. */
export async function selectRunsWithFeedback(
  sql: Sql,
  tenantId: string,
  runs: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ run_id: string }[]>`
    select distinct run_id from feedback where tenant_id = ${tenantId} and run_id = any(${runs as string[]}::text[]::uuid[])`;
  return new Set(rows.map((row) => row.run_id));
}

export async function insertCandidates(sql: Sql | Transaction, rows: readonly CandidateRow[]): Promise<void> {
  if (rows.length === 0) return;
  const column = (name: Exclude<keyof CandidateRow, "rule_ids">) => rows.map((row) => row[name] ?? null) as string[];
  await sql`
    insert into rule_candidates (tenant_id, project_id, run_id, trace_id, start_time, rule_ids, written_at)
    select tenant_id, project_id, run_id, trace_id, start_time at time zone 'UTC', rule_ids, written_at at time zone 'UTC'
    from unnest(${column("tenant_id")}::text[]::uuid[], ${column("project_id")}::text[]::uuid[],
      ${column("run_id")}::text[]::uuid[], ${column("trace_id")}::text[]::uuid[],
      ${column("start_time")}::text[]::timestamp[], ${rows.map((row) => `{${row.rule_ids.join(",")}}`)}::text[],
      ${column("written_at")}::text[]::timestamp[])
      as g (tenant_id, project_id, run_id, trace_id, start_time, ids, written_at), lateral (select ids::uuid[] as rule_ids) l`;
}
