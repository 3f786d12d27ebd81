import type { PendingQuery } from "postgres";

import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { isoTime } from "../datasets/sql.ts";
import { hasPath } from "../prompts/sql.ts";

/** Columns of `prompt_commits c` by wire name. */
const COLUMNS = {
  id: "c.commit_id",
  repo_id: "c.repo_id",
  commit_hash: "c.commit_hash",
  parent_id: "c.parent_id",
  parent_commit_hash: "c.parent_commit_hash",
  manifest_sha: `(select json_agg(get_byte(c.manifest_sha, i)) from generate_series(0, length(c.manifest_sha) - 1) i)`,
  description: "c.description",
  full_name: "c.full_name",
  created_at: isoTime("c.created_at"),
  updated_at: isoTime("c.created_at"),
  example_run_ids: "json_build_array()",
  num_downloads: "0",
  num_views: "0",
};

/** A commit as its repository refers to it. */
export interface CommitRef {
  commit_id: string;
  commit_hash: string;
}

export interface LatestCommit extends CommitRef {
  position: number;
  manifest_sha: Buffer;
  manifest: string;
}

export async function selectLatest(tx: Transaction, commitId: string): Promise<LatestCommit> {
  const [row] = await tx<LatestCommit[]>`
    select commit_id, commit_hash, position, manifest_sha, manifest from prompt_commits where commit_id = ${commitId}`;
  return row!;
}

export interface NewCommit {
  commit_id: string;
  repo_id: string;
  tenant_id: string;
  commit_hash: string;
  position: number;
  parent: CommitRef | undefined;
  manifest: string;
  manifest_sha: Buffer;
  prompt_manifest: string | null;
  description: string | null;
  created_by: string;
}

/** Inserts a commit and makes it the latest of its prompt, whose row is locked. @returns it as JSON */
export async function insertCommit(tx: Transaction, row: NewCommit): Promise<string> {
  await tx`
    insert into prompt_commits (commit_id, repo_id, tenant_id, commit_hash, position, parent_id, parent_commit_hash,
      manifest, manifest_sha, prompt_manifest, description, created_by, full_name, created_at)
    values (${row.commit_id}, ${row.repo_id}, ${row.tenant_id}, ${row.commit_hash}, ${row.position},
      ${row.parent?.commit_id ?? null}, ${row.parent?.commit_hash ?? null}, ${row.manifest}, ${row.manifest_sha},
      ${row.prompt_manifest}, ${row.description}, ${row.created_by}, ${row.created_by}, clock_timestamp())`;
  const [created] = await tx<{ item: string }[]>`
    with latest as (
      update prompts set num_commits = ${row.position}, last_commit_id = ${row.commit_id}, updated_at = clock_timestamp()
      where repo_id = ${row.repo_id})
    select json_build_object('commit', ${buildJsonObject(tx, COLUMNS)})::text as item
    from prompt_commits c where c.commit_id = ${row.commit_id}`;
  return created!.item;
}

/** Lists commits of a prompt, latest first, by the index on (repo_id, position). @returns `{commits, total}` as JSON */
export async function listCommits(
  sql: Sql,
  repoId: string,
  { tag, limit, offset }: { tag?: string | undefined; limit: number; offset: number },
): Promise<string> {
  const tagged =
    tag === undefined
      ? sql`true`
      : sql`c.commit_id = (select t.commit_id from prompt_tags t where t.repo_id = ${repoId} and t.tag_name = ${tag})`;
  const [row] = await sql<{ text: string }[]>`
    select json_build_object(
      'commits', (select coalesce(json_agg(item), '[]') from (
        select ${buildJsonObject(sql, COLUMNS)} as item from prompt_commits c
        where c.repo_id = ${repoId} and ${tagged} order by c.position desc limit ${limit} offset ${offset}) page),
      'total', ${
        tag === undefined
          ? sql`(select num_commits from prompts where repo_id = ${repoId})`
          : sql`(select count(*) from prompt_commits c where c.repo_id = ${repoId} and ${tagged})`
      })::text as text`;
  return row!.text;
}

/**
 * Names a commit of a prompt: the latest one; that of a tag; or, since it may be a hash or its beginning, the one with
 * this hash, else that of a tag.
 */
export type CommitName =
  | { kind: "latest" }
  | { kind: "tag"; tag: string }
  | { kind: "hash"; hash: string; tag: string };

/** Rows of the commits that a name may mean, at most two: a prefix may be ambiguous. `p` is the prompt. */
function named(sql: Sql | Transaction, name: CommitName) {
  const ofTag = (tag: string) =>
    sql`select t.commit_id from prompt_tags t where t.repo_id = p.repo_id and t.tag_name = ${tag}`;
  if (name.kind === "latest") return sql`select p.last_commit_id as commit_id`;
  if (name.kind === "tag") return ofTag(name.tag);
  const ofHash = sql`(select h.commit_id from prompt_commits h
    where h.repo_id = p.repo_id and h.commit_hash >= ${name.hash} and h.commit_hash < ${`${name.hash}g`} limit 2)`;
  // not a union of two: the tag counts only without such a hash
  return sql`with hashed as materialized ${ofHash}
    select commit_id from hashed union all (${ofTag(name.tag)} and not exists (select 1 from hashed))`;
}

export interface PulledRow {
  num_commits: number;
  /** Whether a commit has this name. */
  commit_id: string | null;
  commit_hash: string | null;
  description: string | null;
  /** Null when the caller has this version. */
  manifest: string | null;
}

/**
 * Reads a commit of a prompt that the workspace may read, in one statement: the hot path of running code. Served by the
 * unique indexes on prompts (tenant_id, repo_handle), prompt_tags (repo_id, tag_name), prompt_commits (repo_id,
 * commit_hash) and the primary key of the commits.
 * @param known hash of the commit that the caller has, whose manifest is not read
 * @returns no row for an unknown prompt; without commit_id when it has no such commit; two when the name is ambiguous
 */
export function pullCommit(
  sql: Sql | Transaction,
  tenantId: string,
  {
    owner,
    repo,
    name,
    withModel,
    known,
  }: { owner: string; repo: string; name: CommitName; withModel: boolean; known: string | null },
): PendingQuery<PulledRow[]> {
  const manifest = withModel ? sql`c.manifest` : sql`coalesce(c.prompt_manifest, c.manifest)`;
  return sql<PulledRow[]>`
    select p.num_commits, c.commit_id, c.commit_hash, c.description,
      case when c.commit_hash is distinct from ${known}::text then ${manifest} end as manifest
    from prompts p
    left join lateral (${named(sql, name)}) n on true
    left join prompt_commits c on c.commit_id = n.commit_id
    where ${hasPath(sql, tenantId, owner, repo)}`;
}

/** Finds the commits of a prompt that a name may mean. */
export async function findCommits(sql: Sql | Transaction, repoId: string, name: CommitName): Promise<CommitRef[]> {
  return sql<CommitRef[]>`
    select c.commit_id, c.commit_hash from prompts p, lateral (${named(sql, name)}) n, prompt_commits c
    where p.repo_id = ${repoId} and c.commit_id = n.commit_id`;
}

/** Finds a commit of a prompt by its id. */
export async function findCommit(
  sql: Sql | Transaction,
  repoId: string,
  commitId: string,
): Promise<CommitRef | undefined> {
  const [row] = await sql<CommitRef[]>`
    select commit_id, commit_hash from prompt_commits where commit_id = ${commitId} and repo_id = ${repoId}`;
  return row;
}
