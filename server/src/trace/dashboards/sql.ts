import type { Sql, Transaction } from "../../base/db/connect.ts";
import { utcText } from "../../base/db/utc-text.ts";
import { hasTags } from "../resource-tags/sql.ts";
import type { Chart, ChartPatch, Section, SectionPatch, SectionSearch, StoredSeries } from "./schema.ts";

const SECTION = `s.section_id as id, s.title, s.description, s.index, ${utcText("s.created_at")} as created_at,
  ${utcText("s.modified_at")} as modified_at,
  (select count(*)::int from charts c where c.tenant_id = s.tenant_id and c.section_id = s.section_id) as chart_count`;
const CHART = `c.chart_id as id, c.section_id, c.title, c.description, c.index, c.chart_type, c.series, c.common_filters,
  c.metadata`;

const json = (sql: Sql | Transaction, value: unknown) =>
  sql`nullif(${JSON.stringify(value ?? null)}::text::jsonb, 'null')`;

/** Serializes the writers of a workspace's dashboards, so that their numbers stay within the limits. */
export const lockDashboards = (tx: Transaction, tenantId: string): Promise<unknown> =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`dashboards ${tenantId}`}, 0))`;

export async function countSections(sql: Sql | Transaction, tenantId: string): Promise<{ n: number; next: number }> {
  const [row] = await sql<{ n: number; next: number }[]>`
    select count(*)::int as n, least(coalesce(max(index) + 1, 0), 100000) as next
    from chart_sections where tenant_id = ${tenantId}`;
  return row!;
}

export async function insertSection(
  sql: Sql | Transaction,
  tenantId: string,
  row: Pick<Section, "id" | "title" | "description" | "index">,
): Promise<void> {
  await sql`insert into chart_sections (tenant_id, section_id, title, description, index)
    values (${tenantId}, ${row.id}, ${row.title}, ${row.description}, ${row.index})`;
}

export async function findSection(sql: Sql | Transaction, tenantId: string, id: string): Promise<Section | undefined> {
  const [row] = await sql<Section[]>`
    select ${sql.unsafe(SECTION)} from chart_sections s where s.tenant_id = ${tenantId} and s.section_id = ${id}`;
  return row;
}

/** Finds the oldest dashboard of this title. */
export async function findSectionByTitle(
  sql: Transaction,
  tenantId: string,
  title: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select section_id as id from chart_sections where tenant_id = ${tenantId} and title = ${title}
    order by created_at, section_id limit 1`;
  return row?.id;
}

const SORTABLE: Record<SectionSearch["sort_by"], string> = {
  created_at: "s.created_at",
  modified_at: "s.modified_at",
  title: "s.title",
  index: "s.index",
};

export function listSections(sql: Sql, tenantId: string, search: Partial<SectionSearch>): Promise<Section[]> {
  const {
    ids,
    title_contains: part,
    sort_by = "index",
    sort_by_desc = false,
    limit = 1000,
    offset = 0,
    tag_value_id,
  } = search;
  const order = sql.unsafe(`${SORTABLE[sort_by]} ${sort_by_desc ? "desc" : "asc"}, s.section_id`);
  return sql<Section[]>`
    select ${sql.unsafe(SECTION)} from chart_sections s
    where s.tenant_id = ${tenantId}
      and ${ids ? sql`s.section_id = any(${ids}::uuid[])` : sql`true`}
      and ${hasTags(sql, tenantId, "s.section_id", tag_value_id)}
      and ${part ? sql`strpos(lower(s.title), lower(${part})) > 0` : sql`true`}
    order by ${order} limit ${limit} offset ${offset}`;
}

/** @returns false when there is no such section */
export async function updateSection(sql: Sql, tenantId: string, id: string, patch: SectionPatch): Promise<boolean> {
  const rows = await sql`
    update chart_sections set modified_at = greatest(modified_at, clock_timestamp()),
      title = coalesce(${patch.title ?? null}, title),
      description = ${patch.description === undefined ? sql`description` : sql`${patch.description}::text`},
      index = coalesce(${patch.index ?? null}, index)
    where tenant_id = ${tenantId} and section_id = ${id} returning 1`;
  return rows.length > 0;
}

/** Deletes a section with its charts. @returns false when there is none */
export async function deleteSection(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const rows = await sql`
    delete from chart_sections where tenant_id = ${tenantId} and section_id = ${id} returning 1`;
  return rows.length > 0;
}

export const deleteDashboardsOfWorkspace = (sql: Sql | Transaction, tenantId: string): Promise<unknown> =>
  sql`delete from chart_sections where tenant_id = ${tenantId}`;

/** Lists charts in the order of their dashboards, of which there may be one. */
export function listCharts(
  sql: Sql | Transaction,
  tenantId: string,
  { section, after }: { section?: string | undefined; after?: number | null | undefined } = {},
): Promise<Chart[]> {
  return sql<Chart[]>`
    select ${sql.unsafe(CHART)} from charts c
    where c.tenant_id = ${tenantId}
      and ${section === undefined ? sql`true` : sql`c.section_id = ${section}`}
      and ${after == null ? sql`true` : sql`c.index > ${after}`}
    order by c.section_id, c.index, c.created_at, c.chart_id limit 10000`;
}

export async function findChart(sql: Sql | Transaction, tenantId: string, id: string): Promise<Chart | undefined> {
  const [row] = await sql<Chart[]>`
    select ${sql.unsafe(CHART)} from charts c where c.tenant_id = ${tenantId} and c.chart_id = ${id}`;
  return row;
}

export async function countCharts(
  sql: Transaction,
  tenantId: string,
  section: string,
): Promise<{ n: number; next: number }> {
  const [row] = await sql<{ n: number; next: number }[]>`
    select count(*)::int as n, least(coalesce(max(index) + 1, 0), 100) as next
    from charts where tenant_id = ${tenantId} and section_id = ${section}`;
  return row!;
}

export async function insertChart(sql: Sql | Transaction, tenantId: string, row: Chart): Promise<void> {
  await sql`insert into charts (tenant_id, chart_id, section_id, title, description, index, chart_type, series,
      common_filters, metadata)
    values (${tenantId}, ${row.id}, ${row.section_id}, ${row.title}, ${row.description}, ${row.index}, ${row.chart_type},
      ${json(sql, row.series)}, ${json(sql, row.common_filters)}, ${json(sql, row.metadata)})`;
  await touch(sql, tenantId, row.section_id);
}

export async function updateChart(
  sql: Transaction,
  tenantId: string,
  id: string,
  { series, ...patch }: Omit<ChartPatch, "series"> & { series: StoredSeries[] | undefined },
): Promise<void> {
  await sql`update charts set modified_at = greatest(modified_at, clock_timestamp()),
      title = coalesce(${patch.title ?? null}, title),
      description = ${patch.description === undefined ? sql`description` : sql`${patch.description}::text`},
      index = coalesce(${patch.index ?? null}, index),
      chart_type = coalesce(${patch.chart_type ?? null}, chart_type),
      section_id = coalesce(${patch.section_id ?? null}::uuid, section_id),
      series = ${series === undefined ? sql`series` : json(sql, series)},
      common_filters = ${patch.common_filters === undefined ? sql`common_filters` : json(sql, patch.common_filters)},
      metadata = ${patch.metadata === undefined ? sql`metadata` : json(sql, patch.metadata)}
    where tenant_id = ${tenantId} and chart_id = ${id}`;
}

/** @returns false when there is no such chart */
export async function deleteChart(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const rows = await sql<{ section_id: string }[]>`
    delete from charts where tenant_id = ${tenantId} and chart_id = ${id} returning section_id`;
  if (rows[0]) await touch(sql, tenantId, rows[0].section_id);
  return rows.length > 0;
}

export const touch = (sql: Sql | Transaction, tenantId: string, section: string): Promise<unknown> =>
  sql`update chart_sections set modified_at = greatest(modified_at, clock_timestamp())
    where tenant_id = ${tenantId} and section_id = ${section}`;
