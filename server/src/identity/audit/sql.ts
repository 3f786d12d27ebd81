import type { Sql } from "../../base/db/connect.ts";

/** Entry of the audit log. */
export interface AuditRow {
  id: string;
  at: Date;
  organization_id: string | null;
  workspace_id: string | null;
  actor_kind: string;
  actor_id: string;
  actor_name: string;
  user_id: string | null;
  ip: string;
  operation: string;
  operation_name: string;
  target: Record<string, string>;
  status: number;
  occurrences: number;
  request_id: string | null;
  writer_id: string;
  writer_seq: number;
  seal_key_id: string | null;
  /** Hexadecimal. */
  seal: string | null;
}

/** Status of an entry whose process died before the outcome of the change was known. */
export const UNKNOWN_OUTCOME = 0;

/**
 * Inserts many entries in one statement and one commit. Idempotent, for retries. Deletes the announcements
 * (announced-changes.ts) that the entries replace.
 */
export async function insertAuditRows(sql: Sql, rows: AuditRow[], announced: string[] = []): Promise<void> {
  const column = <K extends keyof AuditRow>(name: K): AuditRow[K][] => rows.map((row) => row[name]);
  await sql`
    with recorded as (delete from announced_changes where id = any(${announced}::uuid[]))
    insert into audit_log (id, at, organization_id, workspace_id, actor_kind, actor_id, actor_name, user_id, ip,
      operation, operation_name, target, status, occurrences, request_id, writer_id, writer_seq, seal_key_id, seal)
    select l.id, l.at, l.organization_id, l.workspace_id, l.actor_kind, l.actor_id, l.actor_name, l.user_id, l.ip,
      l.operation, l.operation_name, l.target::jsonb, l.status, l.occurrences, l.request_id, l.writer_id,
      l.writer_seq, l.seal_key_id, decode(l.seal, 'hex')
    from unnest(
      ${column("id")}::uuid[], ${column("at").map((at) => at.toISOString())}::text[]::timestamptz[],
      ${column("organization_id")}::uuid[], ${column("workspace_id")}::uuid[],
      ${column("actor_kind")}::text[], ${column("actor_id")}::text[], ${column("actor_name")}::text[],
      ${column("user_id")}::text[], ${column("ip")}::text[],
      ${column("operation")}::text[], ${column("operation_name")}::text[],
      ${column("target").map((target) => JSON.stringify(target))}::text[],
      ${column("status")}::int[], ${column("occurrences")}::int[], ${column("request_id")}::text[],
      ${column("writer_id")}::uuid[], ${column("writer_seq")}::int8[],
      ${column("seal_key_id")}::text[], ${column("seal")}::text[]
    ) as l (id, at, organization_id, workspace_id, actor_kind, actor_id, actor_name, user_id, ip, operation,
      operation_name, target, status, occurrences, request_id, writer_id, writer_seq, seal_key_id, seal)
    on conflict (id) do nothing`;
}

const columns = (sql: Sql) => sql`
  id, at, organization_id, workspace_id, actor_kind, actor_id, actor_name, user_id, ip, operation, operation_name,
  target, status, occurrences, request_id, writer_id, writer_seq::float8 as writer_seq, seal_key_id,
  encode(seal, 'hex') as seal`;

/** Filter for entries. `organizationId` or `workspaceId` null: entries without one; absent: all. */
export interface AuditFilter {
  organizationId?: string | null | undefined;
  workspaceId?: string | null | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  /** Operation names as in the contract, or `POST /api-key`. */
  operations?: string[] | undefined;
  /** Id of the key or of the user. */
  actorId?: string | undefined;
  /** Value of the target: an object's id. */
  target?: string | undefined;
}

export interface AuditPosition {
  at: string;
  id: string;
}

/** Returns an exact position: the column has millisecond precision, as a Date does. */
const rowPosition = (row: AuditRow): AuditPosition => ({ at: row.at.toISOString(), id: row.id });

/**
 * Returns a page of entries after a position, in ascending or descending time, and the start of the next page. Served
 * by audit_log_by_workspace or _by_organization, so that a page of a narrow range costs only its own rows.
 */
export async function selectAuditRows(
  sql: Sql,
  filter: AuditFilter,
  page: { after?: AuditPosition | undefined; limit: number; oldestFirst?: boolean },
): Promise<{ rows: AuditRow[]; next: AuditPosition | null }> {
  const { organizationId, workspaceId, from, to, operations, actorId, target } = filter;
  const { after, limit, oldestFirst } = page;
  const rows = await sql<AuditRow[]>`
    select ${columns(sql)}
    from audit_log
    where true
      ${organizationId === undefined ? sql`` : organizationId === null ? sql`and organization_id is null` : sql`and organization_id = ${organizationId}`}
      ${workspaceId === undefined ? sql`` : workspaceId === null ? sql`and workspace_id is null` : sql`and workspace_id = ${workspaceId}`}
      ${from ? sql`and at >= ${from.toISOString()}::text::timestamptz` : sql``}
      ${to ? sql`and at <= ${to.toISOString()}::text::timestamptz` : sql``}
      ${operations ? sql`and (operation_name = any(${operations}::text[]) or operation = any(${operations}::text[]))` : sql``}
      ${actorId === undefined ? sql`` : sql`and (actor_id = ${actorId} or user_id = ${actorId})`}
      ${target === undefined ? sql`` : sql`and exists (select 1 from jsonb_each_text(target) t where t.value = ${target})`}
      ${after ? sql`and (at, id) ${oldestFirst ? sql`>` : sql`<`} (${after.at}::text::timestamptz, ${after.id}::uuid)` : sql``}
    order by ${oldestFirst ? sql`at, id` : sql`at desc, id desc`}
    limit ${limit + 1}`;
  const more = rows.length > limit;
  const pageRows = rows.slice(0, limit);
  return { rows: pageRows, next: more ? rowPosition(pageRows.at(-1)!) : null };
}

export interface WriterPosition {
  writer: string;
  seq: number;
}

/** Lists entries by writer, each writer's in sequence order. */
export const selectAuditRowsByWriter = (sql: Sql, after: WriterPosition, limit: number) => sql<AuditRow[]>`
  select ${columns(sql)} from audit_log
  where (writer_id, writer_seq) > (${after.writer}::uuid, ${after.seq}::int8)
  order by writer_id, writer_seq limit ${limit}`;

/**
 * Deletes at most `limit` entries older than `before`; entries cannot be deleted in any other way. Returns the count.
 */
export function sweepAuditRows(sql: Sql, before: Date, limit: number): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`select set_config('heddle.audit_sweep_before', ${before.toISOString()}, true)`;
    const deleted = await tx`
      delete from audit_log where id in (
        select id from audit_log where at < ${before.toISOString()}::text::timestamptz
        order by at, id limit ${limit} for update skip locked)`;
    return deleted.count;
  });
}
