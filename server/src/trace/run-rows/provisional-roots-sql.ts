import type { Sql } from "../../base/db/connect.ts";

export interface ProvisionalRoot {
  trace_id: string;
  project_id: string;
  run_id: string;
  /** `YYYY-MM-DD hh:mm:ss.ffffff` */
  start_time: string;
  parent_run_id: string | null;
  thread_id: string | null;
}

const COLUMNS = "trace_id, project_id, run_id, start_time, parent_run_id, thread_id";

/** Finds those of these traces, in any project. Served by the primary key. */
export async function findProvisionalRoots(
  sql: Sql,
  tenantId: string,
  traces: readonly string[],
): Promise<ProvisionalRoot[]> {
  if (traces.length === 0) return [];
  return sql<ProvisionalRoot[]>`
    select ${sql.unsafe(COLUMNS)} from provisional_roots
    where tenant_id = ${tenantId} and trace_id in (select unnest(${traces as string[]}::text[]::uuid[]))`;
}

/** Change of a trace's provisional root; `replaces`: the run that it was until now, undefined for none. */
export type ProvisionalRootChange = ProvisionalRoot & { replaces: string | undefined };

/**
 * Stores provisional roots. One that another process has stored or replaced in the meantime stays.
 * @returns the runs that are now provisional roots
 */
export async function storeProvisionalRoots(
  sql: Sql,
  tenantId: string,
  rows: readonly ProvisionalRootChange[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const column = (name: keyof ProvisionalRootChange) => rows.map((row) => row[name] ?? null) as string[];
  const stored = await sql<{ run_id: string }[]>`
    with given as (
      select * from unnest(${column("trace_id")}::text[]::uuid[], ${column("project_id")}::text[]::uuid[],
        ${column("run_id")}::text[]::uuid[], ${column("start_time")}::text[], ${column("parent_run_id")}::text[]::uuid[],
        ${column("thread_id")}::text[], ${column("replaces")}::text[]::uuid[])
        as g (trace_id, project_id, run_id, start_time, parent_run_id, thread_id, replaces)
    ), replaced as (
      update provisional_roots p set run_id = g.run_id, start_time = g.start_time, parent_run_id = g.parent_run_id,
        thread_id = g.thread_id, created_at = now(), checked = false
      from given g
      where p.tenant_id = ${tenantId} and p.trace_id = g.trace_id and p.project_id = g.project_id
        and p.run_id = g.replaces
      returning p.run_id
    ), added as (
      insert into provisional_roots (tenant_id, trace_id, project_id, run_id, start_time, parent_run_id, thread_id)
      select ${tenantId}, trace_id, project_id, run_id, start_time, parent_run_id, thread_id from given
      where replaces is null order by trace_id, project_id
      on conflict do nothing
      returning run_id
    )
    select run_id from replaced union all select run_id from added`;
  return new Set(stored.map((row) => row.run_id));
}

export async function deleteProvisionalRoots(
  sql: Sql,
  tenantId: string,
  roots: readonly Pick<ProvisionalRoot, "trace_id" | "run_id">[],
): Promise<void> {
  if (roots.length === 0) return;
  await sql`
    delete from provisional_roots p
    using unnest(${roots.map((root) => root.trace_id)}::text[]::uuid[], ${roots.map((root) => root.run_id)}::text[]::uuid[])
      as g (trace_id, run_id)
    where p.tenant_id = ${tenantId} and p.trace_id = g.trace_id and p.run_id = g.run_id`;
}

/** Lists roots that were stored `seconds` ago and not checked since, oldest first. */
export const listUnchecked = (
  sql: Sql,
  seconds: number,
  limit: number,
): Promise<(ProvisionalRoot & { tenant_id: string })[]> =>
  sql<(ProvisionalRoot & { tenant_id: string })[]>`
    select tenant_id, ${sql.unsafe(COLUMNS)} from provisional_roots
    where not checked and created_at < now() - make_interval(secs => ${seconds})
    order by created_at limit ${limit}`;

export async function markChecked(
  sql: Sql,
  tenantId: string,
  roots: readonly Pick<ProvisionalRoot, "trace_id" | "run_id">[],
): Promise<void> {
  await sql`
    update provisional_roots p set checked = true
    from unnest(${roots.map((root) => root.trace_id)}::text[]::uuid[], ${roots.map((root) => root.run_id)}::text[]::uuid[])
      as g (trace_id, run_id)
    where p.tenant_id = ${tenantId} and p.trace_id = g.trace_id and p.run_id = g.run_id`;
}

/** Deletes the provisional roots of deleted traces, of all projects or of these. */
export async function deleteOfTraces(
  sql: Sql,
  tenantId: string,
  traces: readonly string[],
  projects?: readonly string[],
): Promise<void> {
  await sql`
    delete from provisional_roots
    where tenant_id = ${tenantId} and trace_id = any(${traces as string[]}::uuid[])
      and ${projects ? sql`project_id = any(${projects as string[]}::uuid[])` : sql`true`}`;
}

/** Deletes the provisional roots of deleted projects. */
export async function deleteOfProjects(sql: Sql, tenantId: string, projects: readonly string[]): Promise<void> {
  await sql`
    delete from provisional_roots where tenant_id = ${tenantId} and project_id = any(${projects as string[]}::uuid[])`;
}
