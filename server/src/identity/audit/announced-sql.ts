import type { Sql } from "../../base/db/connect.ts";

/** Inserts many in one statement, without waiting for the disk (announced-changes.ts). Idempotent, for retries. */
export async function insertAnnounced(sql: Sql, drafts: { id: string }[]): Promise<void> {
  await sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    insert into announced_changes (id, draft)
    select l.id, l.draft::jsonb
    from quick, unnest(${drafts.map((draft) => draft.id)}::uuid[], ${drafts.map((draft) => JSON.stringify(draft))}::text[]) as l (id, draft)
    on conflict (id) do nothing`;
}

export async function deleteAnnounced(sql: Sql, ids: string[]): Promise<void> {
  await sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    delete from announced_changes a using quick where a.id = any(${ids}::uuid[])`;
}

export async function touchAnnounced(sql: Sql, ids: string[]): Promise<void> {
  await sql`update announced_changes set touched_at = now() where id = any(${ids}::uuid[])`;
}

/** Claims announcements not touched for `ms`. The claimer has as long to write their entries. */
export function takeLost<Draft>(
  sql: Sql,
  { ms, not, limit }: { ms: number; not: string[]; limit: number },
): Promise<{ id: string; draft: Draft }[]> {
  return sql<{ id: string; draft: Draft }[]>`
    update announced_changes set touched_at = now()
    where id in (
      select id from announced_changes
      where touched_at < now() - make_interval(secs => ${ms / 1000}) and id <> all(${not}::uuid[])
      order by touched_at limit ${limit} for update skip locked)
    returning id, draft`;
}
