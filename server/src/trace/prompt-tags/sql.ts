import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { isoTime } from "../datasets/sql.ts";
import type { CommitRef } from "../prompt-commits/sql.ts";

/** Columns of `prompt_tags t` and its commit `c` by wire name. */
const COLUMNS = {
  id: "t.tag_id",
  repo_id: "t.repo_id",
  commit_id: "t.commit_id",
  commit_hash: "c.commit_hash",
  tag_name: "t.tag_name",
  created_at: isoTime("t.created_at"),
  updated_at: isoTime("t.updated_at"),
};

const item = (sql: Sql | Transaction) => buildJsonObject(sql, COLUMNS);

/** Lists all tags of a prompt, whose number is limited. @returns a JSON array */
export async function listTags(sql: Sql, repoId: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(${item(sql)} order by t.tag_name), '[]')::text as items
    from prompt_tags t join prompt_commits c on c.commit_id = t.commit_id where t.repo_id = ${repoId}`;
  return row!.items;
}

/** @returns the tag as JSON */
export async function readTag(sql: Sql | Transaction, repoId: string, name: string): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${item(sql)}::text as item from prompt_tags t join prompt_commits c on c.commit_id = t.commit_id
    where t.repo_id = ${repoId} and t.tag_name = ${name}`;
  return row?.item;
}

/** Finds the commit of a tag. */
export async function findTag(tx: Transaction, repoId: string, name: string): Promise<CommitRef | undefined> {
  const [row] = await tx<CommitRef[]>`
    select c.commit_id, c.commit_hash from prompt_tags t join prompt_commits c on c.commit_id = t.commit_id
    where t.repo_id = ${repoId} and t.tag_name = ${name}`;
  return row;
}

export async function countTags(tx: Transaction, repoId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`select count(*)::int from prompt_tags where repo_id = ${repoId}`;
  return row!.count;
}

/** Creates the tag or moves it; the prompt's row is locked. */
export const upsertTag = (
  tx: Transaction,
  row: { tag_id: string; repo_id: string; tag_name: string; commit_id: string },
): Promise<unknown> => tx`
  insert into prompt_tags (tag_id, repo_id, tag_name, commit_id)
  values (${row.tag_id}, ${row.repo_id}, ${row.tag_name}, ${row.commit_id})
  on conflict (repo_id, tag_name) do update set commit_id = excluded.commit_id, updated_at = clock_timestamp()`;

export const deleteTag = (tx: Transaction, repoId: string, name: string): Promise<unknown> =>
  tx`delete from prompt_tags where repo_id = ${repoId} and tag_name = ${name}`;

export interface TagMove {
  move_id: string;
  tenant_id: string;
  repo_id: string;
  tag_name: string;
  from: CommitRef | undefined;
  to: CommitRef | undefined;
  performed_by: string | null;
  performed_by_name: string;
}

export const insertMove = (tx: Transaction, row: TagMove): Promise<unknown> => tx`
  insert into prompt_tag_moves (move_id, tenant_id, repo_id, tag_name, from_commit_id, from_commit_hash, to_commit_id,
    to_commit_hash, performed_by, performed_by_name, created_at)
  values (${row.move_id}, ${row.tenant_id}, ${row.repo_id}, ${row.tag_name}, ${row.from?.commit_id ?? null},
    ${row.from?.commit_hash ?? null}, ${row.to?.commit_id ?? null}, ${row.to?.commit_hash ?? null},
    ${row.performed_by}, ${row.performed_by_name}, clock_timestamp())`;

const MOVE = {
  id: "m.move_id",
  repo_id: "m.repo_id",
  tag_name: "m.tag_name",
  from_commit_id: "m.from_commit_id",
  from_commit_hash: "m.from_commit_hash",
  to_commit_id: "m.to_commit_id",
  to_commit_hash: "m.to_commit_hash",
  performed_by: "m.performed_by",
  performed_by_name: "m.performed_by_name",
  created_at: isoTime("m.created_at"),
};

/** Lists the changes of a tag, latest first, by prompt_tag_moves_of_tag. @returns `{total, transitions}` as JSON */
export async function listHistory(
  sql: Sql,
  repoId: string,
  name: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; text: string }> {
  const [row] = await sql<{ total: number; text: string }[]>`
    with counted as (select count(*)::int as total from prompt_tag_moves where repo_id = ${repoId} and tag_name = ${name})
    select total, json_build_object('total', total, 'transitions', (select coalesce(json_agg(item), '[]') from (
      select ${buildJsonObject(sql, MOVE)} as item from prompt_tag_moves m
      where m.repo_id = ${repoId} and m.tag_name = ${name}
      order by m.created_at desc, m.move_id desc limit ${limit} offset ${offset}) page))::text as text
    from counted`;
  return row!;
}

/** Lists the changes of tags of a workspace's prompts, latest first, by prompt_tag_moves_of_tenant. */
export async function listMoves(
  sql: Sql,
  tenantId: string,
  {
    start_time: from,
    end_time: to,
    limit,
  }: { start_time?: string | undefined; end_time?: string | undefined; limit: number },
): Promise<string> {
  const [row] = await sql<{ text: string }[]>`
    select json_build_object('tag_moves', coalesce(json_agg(json_build_object('repo_handle', p.repo_handle,
      'owner', w.tenant_handle, 'tag_name', m.tag_name, 'from_commit_hash', m.from_commit_hash,
      'to_commit_hash', m.to_commit_hash, 'changed_by', m.performed_by_name,
      'changed_at', ${sql.unsafe(isoTime("m.created_at"))}) order by m.created_at desc, m.move_id desc), '[]'))::text as text
    from (select * from prompt_tag_moves where tenant_id = ${tenantId}
        and ${from === undefined ? sql`true` : sql`created_at >= ${from}::text::timestamptz`}
        and ${to === undefined ? sql`true` : sql`created_at < ${to}::text::timestamptz`}
      order by created_at desc, move_id desc limit ${limit}) m
    join prompts p on p.repo_id = m.repo_id left join workspaces w on w.id = p.tenant_id`;
  return row!.text;
}
