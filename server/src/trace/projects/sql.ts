import type { Sql, Transaction } from "../../base/db/connect.ts";
import { contains } from "../../base/db/containment.ts";
import { uuid7 } from "../../base/ids.ts";
import { hasTags } from "../resource-tags/sql.ts";
import { compileProjectFilter } from "./project-filter.ts";

/** Row of `projects` as serialized. Times are UTC without a suffix and with six digits. */
export interface Project {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  extra: Record<string, unknown> | null;
  start_time: string;
  end_time: string | null;
  default_dataset_id: string | null;
  reference_dataset_id: string | null;
  test_run_number: number | null;
  trace_tier: "longlived" | "shortlived" | null;
  retention_days: number | null;
  incomplete_after_hours: number | null;
}

const isoUtc = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;

const WIRE = `p.project_id as id, p.tenant_id, p.name, p.description, p.extra,
  ${isoUtc("p.start_time")} as start_time, ${isoUtc("p.end_time")} as end_time,
  p.default_dataset_id, p.reference_dataset_id, p.test_run_number, p.trace_tier, p.retention_days,
  p.incomplete_after_hours`;

/** Returns the project's id, creating it if necessary: two statements only then. The unique name resolves races. */
export async function ensureProject(sql: Sql, tenantId: string, name: string): Promise<string> {
  for (;;) {
    const [known] = await sql<{ id: string }[]>`
      select project_id as id from projects where tenant_id = ${tenantId} and name = ${name}`;
    if (known) return known.id;
    const [created] = await sql<{ id: string }[]>`
      insert into projects (project_id, tenant_id, name) values (${uuid7()}, ${tenantId}, ${name})
      on conflict (tenant_id, name) do nothing
      returning project_id as id`;
    // no row: another transaction created it, and the next select finds it unless it was deleted in between
    if (created) return created.id;
  }
}

export async function findProject(sql: Sql | Transaction, tenantId: string, id: string): Promise<Project | undefined> {
  const [row] = await sql<Project[]>`
    select ${sql.unsafe(WIRE)} from projects p where p.tenant_id = ${tenantId} and p.project_id = ${id}`;
  return row;
}

/** Fields of a create or an upsert; null means "not given". */
export interface NewProject {
  id: string;
  name: string;
  description?: string | null | undefined;
  extra?: Record<string, unknown> | null | undefined;
  start_time?: string | null | undefined;
  end_time?: string | null | undefined;
  default_dataset_id?: string | null | undefined;
  reference_dataset_id?: string | null | undefined;
  trace_tier?: string | null | undefined;
  retention_days?: number | null | undefined;
  incomplete_after_hours?: number | null | undefined;
  experiment: Record<string, unknown> | null;
}

const json = (value: unknown): string | null => (value == null ? null : JSON.stringify(value));

export async function hasDataset(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  return (await sql`select 1 from datasets where tenant_id = ${tenantId} and dataset_id = ${id}`).length > 0;
}

/** @returns the new row; undefined when the workspace already uses the name or the id */
export async function insertProject(
  sql: Sql | Transaction,
  tenantId: string,
  project: NewProject,
): Promise<Project | undefined> {
  const dataset = project.reference_dataset_id ?? null;
  const [row] = await sql<Project[]>`
    insert into projects as p (tenant_id, project_id, name, description, extra, start_time, end_time,
      default_dataset_id, reference_dataset_id, trace_tier, retention_days, incomplete_after_hours, experiment,
      test_run_number)
    values (${tenantId}, ${project.id}, ${project.name}, ${project.description ?? null}, ${json(project.extra)}::text::jsonb,
      coalesce(${project.start_time ?? null}::timestamptz, now()), ${project.end_time ?? null}::timestamptz,
      ${project.default_dataset_id ?? null}, ${dataset}::uuid, ${project.trace_tier ?? null},
      ${project.retention_days ?? null}, ${project.incomplete_after_hours ?? null},
      ${json(project.experiment)}::text::jsonb,
      case when ${dataset}::uuid is not null then (
        select coalesce(max(test_run_number), 0) + 1 from projects
        where tenant_id = ${tenantId} and reference_dataset_id = ${dataset}::uuid) end)
    on conflict do nothing
    returning ${sql.unsafe(WIRE)}`;
  return row;
}

export type ProjectChange = {
  [F in "name" | "description" | "extra" | "end_time" | "default_dataset_id"]?: NewProject[F] | null | undefined;
} & { [F in "trace_tier" | "retention_days" | "incomplete_after_hours" | "experiment"]?: NewProject[F] | undefined };

/**
 * Updates a project. Null or absent keeps the value, except that null clears retention_days and
 * incomplete_after_hours. @throws postgres 23505
 * when another project has the name
 */
export async function updateProject(
  sql: Sql,
  tenantId: string,
  id: string,
  change: ProjectChange,
): Promise<Project | undefined> {
  const [row] = await sql<Project[]>`
    update projects p set
      name = coalesce(${change.name ?? null}, p.name),
      description = coalesce(${change.description ?? null}, p.description),
      extra = coalesce(${json(change.extra)}::text::jsonb, p.extra),
      end_time = coalesce(${change.end_time ?? null}::timestamptz, p.end_time),
      default_dataset_id = coalesce(${change.default_dataset_id ?? null}::uuid, p.default_dataset_id),
      trace_tier = coalesce(${change.trace_tier ?? null}, p.trace_tier),
      retention_days = case when ${change.retention_days === undefined} then p.retention_days
        else ${change.retention_days ?? null}::int end,
      incomplete_after_hours = case when ${change.incomplete_after_hours === undefined} then p.incomplete_after_hours
        else ${change.incomplete_after_hours ?? null}::int end,
      experiment = coalesce(${json(change.experiment)}::text::jsonb, p.experiment),
      modified_at = now()
    where p.tenant_id = ${tenantId} and p.project_id = ${id}
    returning ${sql.unsafe(WIRE)}`;
  return row;
}

export async function findProjectByName(sql: Sql, tenantId: string, name: string): Promise<Project | undefined> {
  const [row] = await sql<Project[]>`
    select ${sql.unsafe(WIRE)} from projects p where p.tenant_id = ${tenantId} and p.name = ${name}`;
  return row;
}

export interface ProjectFilter {
  id?: string[] | undefined;
  name?: string | undefined;
  name_contains?: string | undefined;
  reference_free?: boolean | undefined;
  reference_dataset?: string[] | undefined;
  dataset_version?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  tag_value_id?: string[] | undefined;
  /** Filter expression (project-filter.ts). */
  filter?: string | undefined;
}

const matching = (sql: Sql, tenantId: string, filter: ProjectFilter) => sql`
  p.tenant_id = ${tenantId}
  and ${filter.id ? sql`p.project_id = any(${filter.id}::uuid[])` : sql`true`}
  and ${filter.name === undefined ? sql`true` : sql`p.name = ${filter.name}`}
  and ${filter.name_contains === undefined ? sql`true` : sql`strpos(lower(p.name), lower(${filter.name_contains})) > 0`}
  and ${filter.reference_free === undefined ? sql`true` : sql`(p.reference_dataset_id is null) = ${filter.reference_free}::boolean`}
  and ${filter.reference_dataset ? sql`p.reference_dataset_id = any(${filter.reference_dataset}::uuid[])` : sql`true`}
  and ${
    filter.dataset_version === undefined
      ? sql`true`
      : sql`p.extra -> 'metadata' ->> 'dataset_version' = ${filter.dataset_version}`
  }
  and ${contains(sql, "(p.extra -> 'metadata')", filter.metadata)}
  and ${hasTags(sql, tenantId, "p.project_id", filter.tag_value_id)}
  and ${filter.filter ? compileProjectFilter(sql, filter.filter) : sql`true`}`;

/**
 * Lists a page of projects. Served by projects_by_start in the default order. @throws FilterError (400) for an invalid
 * expression
 */
export async function listProjects(
  sql: Sql,
  tenantId: string,
  filter: ProjectFilter & { sort_by: "name" | "start_time"; descending: boolean; limit: number; offset: number },
): Promise<{ projects: Project[]; total: number }> {
  const where = matching(sql, tenantId, filter);
  const direction = sql.unsafe(filter.descending ? "desc" : "asc");
  const order = sql`p.${sql(filter.sort_by)} ${direction}, p.project_id ${direction}`;
  const [projects, [count]] = await Promise.all([
    sql<Project[]>`select ${sql.unsafe(WIRE)} from projects p where ${where}
      order by ${order} limit ${filter.limit} offset ${filter.offset}`,
    sql<{ n: number }[]>`select count(*)::int as n from projects p where ${where}`,
  ]);
  return { projects, total: count!.n };
}

/** Whether a project of this id was deleted, and runs of it may still be. */
export async function isBeingDeleted(sql: Sql | Transaction, tenantId: string, id: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from project_deletions where tenant_id = ${tenantId} and project_id = ${id})
      or exists (select from erasures where tenant_id = ${tenantId} and status <> 'done'
        and ${id}::uuid = any(project_ids)) as found`;
  return row!.found;
}

/** Returns those of the ids that projects have now. */
export const findProjectIds = async (sql: Sql, tenantId: string, ids: readonly string[]): Promise<string[]> =>
  (
    await sql<{ id: string }[]>`
      select project_id as id from projects where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[])`
  ).map(({ id }) => id);

/** Returns the names of those of the ids that projects have now. */
export async function findProjectNames(
  sql: Sql,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; name: string }[]>`
    select project_id as id, name from projects where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Deletes the projects' rows and records that their runs must be deleted. @returns the ids of the deleted projects */
export async function deleteProjectRows(sql: Sql | Transaction, tenantId: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ project_id: string }[]>`
    with gone as (
      delete from projects where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[]) returning project_id
    ), unshared as (
      delete from trace_shares where tenant_id = ${tenantId} and project_id in (select project_id from gone)
    )
    insert into project_deletions (tenant_id, project_id)
    select ${tenantId}, project_id from gone
    on conflict (tenant_id, project_id) do update set deleted_at = now()
    returning project_id`;
  return rows.map((row) => row.project_id);
}

export interface Tier {
  trace_tier: "longlived" | "shortlived" | null;
  retention_days: number | null;
}

/** Returns the retention of these projects. */
export async function findTiers(sql: Sql, tenantId: string, ids: string[]): Promise<Map<string, Tier>> {
  const rows = await sql<(Tier & { id: string })[]>`
    select project_id as id, trace_tier, retention_days from projects
    where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the age at which runs become incomplete, by project, of those that have their own; at most 10,000. */
export async function findIncompleteHours(sql: Sql, tenantId: string): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; hours: number }[]>`
    select project_id as id, incomplete_after_hours as hours from projects
    where tenant_id = ${tenantId} and incomplete_after_hours is not null limit 10000`;
  return new Map(rows.map(({ id, hours }) => [id, hours]));
}

/** Returns the projects with an explicit tier equal to this one; at most 100,000. */
export async function projectsOfTier(sql: Sql, tenantId: string, tier: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select project_id as id from projects where tenant_id = ${tenantId} and trace_tier = ${tier} limit 100000`;
  return rows.map((row) => row.id);
}

export async function hasProjects(sql: Sql, tenantId: string): Promise<boolean> {
  return (await sql`select 1 from projects where tenant_id = ${tenantId} limit 1`).length > 0;
}

/** Returns the experiments on a dataset. */
export async function projectsOfDataset(sql: Sql, tenantId: string, datasetId: string): Promise<Project[]> {
  return sql<Project[]>`
    select ${sql.unsafe(WIRE)} from projects p
    where p.tenant_id = ${tenantId} and p.reference_dataset_id = ${datasetId}
    order by p.start_time desc limit 1000`;
}
