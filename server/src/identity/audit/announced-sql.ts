import type { Sql } from "../../base/db/connect.ts";

/** Many in one statement, which does not wait for the disk (announced-changes.ts). A retry may come twice. */
export async function insertAnnounced(sql: Sql, drafts: { id: string }[]): Promise<void> {
  await sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    insert into announced_changes (id, draft)
    select l.id, l.draft::jsonb
    from quick, unnest(${drafts.map((one) => one.id)}::uuid[], ${drafts.map((one) => JSON.stringify(one))}::text[]) as l (id, draft)
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

/** Those that nobody has touched for `ms`; whoever takes them has as long to write their lines. */
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
