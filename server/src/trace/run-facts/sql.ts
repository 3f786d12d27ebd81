import type { Sql } from "../../base/db/connect.ts";

/** Hour of a project in which runs started; `hour` counts from 1970. */
export interface Hour {
  tenant_id: string;
  project_id: string;
  hour: number;
}

/** Hour without a current copy, and when a write to it was last announced. */
export type OpenHour = Hour & { marked_at: string; has_rows: boolean };

const columns = (hours: readonly Hour[]) => ({
  tenants: hours.map(({ tenant_id }) => tenant_id),
  projects: hours.map(({ project_id }) => project_id),
  numbers: hours.map(({ hour }) => hour),
});

/** Announces writes: the copies of these hours are out of date. */
export async function markHours(sql: Sql, hours: readonly Hour[]): Promise<void> {
  if (hours.length === 0) return;
  const { tenants, projects, numbers } = columns(hours);
  // in order, because concurrent statements lock the rows
  await sql`
    insert into run_hours (tenant_id, project_id, hour)
    select * from unnest(${tenants}::text[]::uuid[], ${projects}::text[]::uuid[], ${numbers}::integer[]) as g (t, p, h)
    order by t, p, h
    on conflict (tenant_id, project_id, hour) do update set marked_at = clock_timestamp(), build = null`;
}

/** Adds hours that are not known yet. */
export async function addHours(sql: Sql, hours: readonly Hour[]): Promise<void> {
  const { tenants, projects, numbers } = columns(hours);
  await sql`
    insert into run_hours (tenant_id, project_id, hour, marked_at)
    select t, p, h, to_timestamp(0)
    from unnest(${tenants}::text[]::uuid[], ${projects}::text[]::uuid[], ${numbers}::integer[]) as g (t, p, h)
    order by t, p, h on conflict do nothing`;
}

export async function areHoursListed(sql: Sql): Promise<boolean> {
  return (await sql`select from run_hours_listed limit 1`).length > 0;
}

export async function noteHoursListed(sql: Sql): Promise<void> {
  await sql`insert into run_hours_listed default values`;
}

/** Makes all copies void, after which the hours are listed again. */
export async function resetHours(sql: Sql): Promise<void> {
  await sql`truncate run_hours, run_hours_listed`;
}

/**
 * Returns open hours of one project, that of the oldest announcement, to which no write was announced for `quietSeconds`.
 * Served by run_hours_open.
 */
export const listOpenHours = (sql: Sql, quietSeconds: number, limit: number): Promise<OpenHour[]> => sql<OpenHour[]>`
  with oldest as (
    select tenant_id, project_id from run_hours
    where build is null and marked_at < clock_timestamp() - make_interval(secs => ${quietSeconds})
    order by marked_at limit 1
  )
  select tenant_id, project_id, hour, marked_at::text as marked_at, has_rows from run_hours join oldest using (tenant_id, project_id)
  where build is null and marked_at < clock_timestamp() - make_interval(secs => ${quietSeconds})
  order by hour limit ${limit}`;

/**
 * Makes all builds of these hours void that have begun, also those under way elsewhere, so that their rows can be
 * deleted. Hours that have become current, or to which a write was announced, are left out.
 * @returns the hours as they are now, and a number below all builds that begin later
 */
export async function voidBuilds(sql: Sql, hours: readonly OpenHour[]): Promise<{ hours: OpenHour[]; below: number }> {
  const { tenants, projects, numbers } = columns(hours);
  // first: builds that begin between the statements are void, too
  const [row] = await sql<[{ below: string }]>`select nextval('run_builds')::text as below`;
  const open = await sql<OpenHour[]>`
    update run_hours r set marked_at = clock_timestamp()
    from unnest(${tenants}::text[]::uuid[], ${projects}::text[]::uuid[], ${numbers}::integer[],
      ${hours.map(({ marked_at }) => marked_at)}::text[]::timestamptz[]) as g (t, p, h, marked_at)
    where r.tenant_id = g.t and r.project_id = g.p and r.hour = g.h and r.marked_at = g.marked_at and r.build is null
    returning r.tenant_id, r.project_id, r.hour, r.marked_at::text as marked_at, r.has_rows`;
  return { hours: open.toSorted((a, b) => a.hour - b.hour), below: Number(row.below) };
}

/** Records that rows of these hours are about to be written. @returns a build for each */
export async function beginBuilds(sql: Sql, hours: readonly OpenHour[]): Promise<number[]> {
  const { tenants, projects, numbers } = columns(hours);
  await sql`
    update run_hours r set has_rows = true
    from unnest(${tenants}::text[]::uuid[], ${projects}::text[]::uuid[], ${numbers}::integer[]) as g (t, p, h)
    where r.tenant_id = g.t and r.project_id = g.p and r.hour = g.h and not r.has_rows`;
  const rows = await sql<{ build: string }[]>`
    select nextval('run_builds')::text as build from generate_series(1, ${hours.length}::integer)`;
  return rows.map(({ build }) => Number(build));
}

/** Makes builds the current ones, except of hours to which a write was announced since. @returns those that are */
export async function completeBuilds(
  sql: Sql,
  hours: readonly OpenHour[],
  builds: readonly number[],
): Promise<Set<number>> {
  const { tenants, projects, numbers } = columns(hours);
  const rows = await sql<{ build: string }[]>`
    update run_hours r set build = g.build
    from unnest(${tenants}::text[]::uuid[], ${projects}::text[]::uuid[], ${numbers}::integer[],
      ${hours.map(({ marked_at }) => marked_at)}::text[]::timestamptz[], ${builds as number[]}::bigint[])
      as g (t, p, h, marked_at, build)
    where r.tenant_id = g.t and r.project_id = g.p and r.hour = g.h and r.marked_at = g.marked_at and r.build is null
    returning r.build::text as build`;
  return new Set(rows.map(({ build }) => Number(build)));
}

/**
 * Returns the hours of a period with their current build, null for open ones; all undefined while the hours are not
 * listed. Served by the primary key.
 */
export async function readHours(
  sql: Sql,
  tenantId: string,
  projects: readonly string[] | undefined,
  { first, last, limit }: { first: number; last: number; limit: number },
): Promise<{ hour: number; build: number | null }[]> {
  const rows = await sql<{ hour: number; build: string | null }[]>`
    select hour, build::text as build from run_hours
    where tenant_id = ${tenantId} and hour between ${first} and ${last}
      and ${projects ? sql`project_id = any(${projects as string[]}::text[]::uuid[])` : sql`true`}
      and exists (select from run_hours_listed)
    limit ${limit}`;
  return rows.map(({ hour, build }) => ({ hour, build: build === null ? null : Number(build) }));
}

/** Returns the current builds of these hours of a project. Served by the primary key. */
export async function readBuilds(sql: Sql, tenantId: string, projectId: string, hours: number[]): Promise<number[]> {
  const rows = await sql<{ build: string }[]>`
    select build::text as build from run_hours
    where tenant_id = ${tenantId} and project_id = ${projectId} and hour = any(${hours}::integer[])
      and build is not null and exists (select from run_hours_listed)`;
  return rows.map(({ build }) => Number(build));
}

/** Deletes hours that turned out to be empty, except those to which a write was announced since. */
export async function deleteEmptyHours(sql: Sql, hours: readonly OpenHour[]): Promise<void> {
  const { tenants, projects, numbers } = columns(hours);
  await sql`
    delete from run_hours r
    using unnest(${tenants}::text[]::uuid[], ${projects}::text[]::uuid[], ${numbers}::integer[],
      ${hours.map(({ marked_at }) => marked_at)}::text[]::timestamptz[]) as g (t, p, h, marked_at)
    where r.tenant_id = g.t and r.project_id = g.p and r.hour = g.h and r.marked_at = g.marked_at and r.build is null`;
}

/** Counts hours without and with a current copy. */
export async function measureHours(sql: Sql): Promise<{ open: number; current: number }> {
  const [row] = await sql<[{ open: number; current: number }]>`
    select count(*) filter (where build is null)::integer as open, count(build)::integer as current from run_hours`;
  return row;
}
