import type { Sql } from "../../base/db/connect.ts";

export type WaitingKind = "update" | "place";

export interface WaitingRow {
  seq: string;
  run_id: string;
  tenant_id: string;
  needs: string;
  kind: WaitingKind;
  /** RunPiece as JSON text. */
  piece: string;
}

/** Inserts all rows, or none if the workspace already has `max`. @returns whether they were stored */
export async function insertWaiting(
  sql: Sql,
  tenantId: string,
  rows: Omit<WaitingRow, "seq" | "tenant_id">[],
  max: number,
): Promise<boolean> {
  const inserted = await sql`
    insert into waiting_pieces (tenant_id, run_id, needs, kind, piece)
    select ${tenantId}, run_id, needs, kind, piece
    from unnest(${rows.map((row) => row.run_id)}::text[]::uuid[],
                ${rows.map((row) => row.needs)}::text[]::uuid[], ${rows.map((row) => row.kind)}::text[],
                ${rows.map((row) => row.piece)}::text[]) as t (run_id, needs, kind, piece)
    where (select count(*) from (select from waiting_pieces where tenant_id = ${tenantId} limit ${max}) as w) < ${max}
    returning 1`;
  return inserted.length > 0;
}

const COLUMNS = "seq::text, tenant_id, run_id, needs, kind, piece";

/** A child's place waits until its parent's place is known. */
const READY = `not (w.kind = 'place' and exists (select from waiting_pieces p
  where p.tenant_id = w.tenant_id and p.kind = 'place' and p.run_id = w.needs and p.run_id <> w.run_id))`;

/** Reads a page of all waiting pieces, in order of arrival. */
export const readWaiting = (sql: Sql, after: string, limit: number): Promise<WaitingRow[]> => sql<WaitingRow[]>`
  select ${sql.unsafe(COLUMNS)} from waiting_pieces w
  where seq > ${after}::bigint and ${sql.unsafe(READY)} order by seq limit ${limit}`;

/** Reads the pieces that wait for one of these runs. */
export const readWaitingFor = (sql: Sql, tenantId: string, needs: string[], limit: number): Promise<WaitingRow[]> =>
  sql<WaitingRow[]>`
    select ${sql.unsafe(COLUMNS)} from waiting_pieces w
    where tenant_id = ${tenantId} and needs in (select unnest(${needs}::text[]::uuid[])) and ${sql.unsafe(READY)}
    order by seq limit ${limit}`;

export const readExpired = (sql: Sql, hours: number, limit: number): Promise<WaitingRow[]> => sql<WaitingRow[]>`
  select ${sql.unsafe(COLUMNS)} from waiting_pieces
  where received_at < now() - make_interval(hours => ${hours}) order by seq limit ${limit}`;

export const deleteWaiting = (sql: Sql, seqs: string[]): Promise<unknown> =>
  sql`delete from waiting_pieces where seq in (select unnest(${seqs}::text[]::bigint[]))`;

/** Most waiting pieces that are counted. */
const MAX_COUNTED = 1_000_000;

/** Counts waiting pieces; `oldest` is the age of the first in seconds. */
export async function countWaiting(sql: Sql): Promise<{ count: number; oldest: number }> {
  const [row] = await sql<{ count: number; oldest: number }[]>`
    select (select count(*) from (select from waiting_pieces limit ${MAX_COUNTED}) w)::int as count,
      coalesce((select extract(epoch from now() - received_at) from waiting_pieces order by seq limit 1), 0)::float8
        as oldest`;
  return row!;
}
