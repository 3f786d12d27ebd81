import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { hasTags } from "../resource-tags/sql.ts";
import { isoTime } from "../datasets/sql.ts";
import type { PromptFilters, PromptPatch, PromptSearch, RepoType } from "./schema.ts";

/** Bytes of manifests in one answer. */
export const MAX_MANIFESTS = 64 * 1024 * 1024;

const fullName = (handle: string, repo: string) => `coalesce(${handle}, '-') || '/' || ${repo}`;

/**
 * Columns of `prompts p` by wire name. `m.tenant_id` is the caller's workspace: of a fork's origin it sees only what it
 * may read.
 */
const COLUMNS = {
  id: "p.repo_id",
  tenant_id: "p.tenant_id",
  repo_handle: "p.repo_handle",
  description: "p.description",
  readme: "p.readme",
  tags: "to_json(p.tags)",
  repo_type: "p.repo_type",
  source: "p.source",
  is_public: "p.is_public",
  is_archived: "p.is_archived",
  restricted_mode: "false",
  created_at: isoTime("p.created_at"),
  updated_at: isoTime("p.updated_at"),
  created_by: "p.created_by",
  owner: "w.tenant_handle",
  full_name: fullName("w.tenant_handle", "p.repo_handle"),
  original_repo_id: "o.repo_id",
  original_repo_full_name: "o.full_name",
  upstream_repo_id: "u.repo_id",
  upstream_repo_full_name: "u.full_name",
  commit_tags:
    "(select coalesce(json_agg(t.tag_name order by t.tag_name), '[]') from prompt_tags t where t.repo_id = p.repo_id)",
  num_commits: "p.num_commits",
  last_commit_hash: "l.commit_hash",
  num_likes: "0",
  num_downloads: "0",
  num_views: "0",
  liked_by_auth_user: "false",
  latest_commit_manifest: `case when l.commit_id is not null then
    json_build_object('commit_hash', l.commit_hash, 'manifest', l.manifest::json, 'examples', null) end`,
};
const PLAIN = Object.keys(COLUMNS).filter((name) => name !== "latest_commit_manifest");

const visible = (alias: string, column: string) => `
  left join lateral (
    select r.repo_id, ${fullName("x.tenant_handle", "r.repo_handle")} as full_name
    from prompts r left join workspaces x on x.id = r.tenant_id
    where r.repo_id = p.${column} and (r.tenant_id = m.tenant_id or r.is_public)) ${alias} on true`;
const JOINS = `
  left join workspaces w on w.id = p.tenant_id
  left join prompt_commits l on l.commit_id = p.last_commit_id
  ${visible("o", "original_repo_id")} ${visible("u", "upstream_repo_id")}`;

export interface PromptRow {
  repo_id: string;
  tenant_id: string;
  repo_handle: string;
  repo_type: RepoType;
  is_public: boolean;
  num_commits: number;
  last_commit_id: string | null;
}

export interface NewPrompt {
  repo_id: string;
  tenant_id: string;
  repo_handle: string;
  description: string | null;
  readme: string | null;
  tags: string[];
  repo_type: RepoType;
  source: string | null;
  is_public: boolean;
  original_repo_id: string | null;
  upstream_repo_id: string | null;
  created_by: string;
}

/** @returns false when the workspace has a prompt with this handle */
export async function insertPrompt(sql: Sql | Transaction, row: NewPrompt): Promise<boolean> {
  const inserted = await sql`
    insert into prompts (repo_id, tenant_id, repo_handle, description, readme, tags, repo_type, source, is_public,
      original_repo_id, upstream_repo_id, created_by)
    values (${row.repo_id}, ${row.tenant_id}, ${row.repo_handle}, ${row.description}, ${row.readme},
      ${row.tags}::text[], ${row.repo_type}, ${row.source}, ${row.is_public}, ${row.original_repo_id},
      ${row.upstream_repo_id}, ${row.created_by})
    on conflict (tenant_id, repo_handle) do nothing returning 1`;
  return inserted.length > 0;
}

/** Condition that finds a prompt by its path: `-` is the caller's workspace. Public ones are found by all. */
export const hasPath = (sql: Sql | Transaction, tenantId: string, owner: string, repo: string) => sql`
  p.repo_handle = ${repo} and (p.tenant_id = ${tenantId} or p.is_public) and p.tenant_id = ${
    owner === "-"
      ? sql`${tenantId}`
      : sql`(select id from workspaces where tenant_handle = ${owner} and deleted_at is null)`
  }`;

/** Finds a prompt that the workspace may read. With `lock`, its commits and tags do not change meanwhile. */
export async function findPrompt(
  sql: Sql | Transaction,
  tenantId: string,
  owner: string,
  repo: string,
  lock?: "lock",
): Promise<PromptRow | undefined> {
  const [row] = await sql<PromptRow[]>`
    select p.repo_id, p.tenant_id, p.repo_handle, p.repo_type, p.is_public, p.num_commits, p.last_commit_id
    from prompts p where ${hasPath(sql, tenantId, owner, repo)} ${lock ? sql`for update of p` : sql``}`;
  return row;
}

/** @returns the prompt as JSON */
export async function readPrompt(
  sql: Sql | Transaction,
  tenantId: string,
  repoId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select json_build_object('repo', ${buildJsonObject(sql, COLUMNS, PLAIN)})::text as item
    from (select ${tenantId}::uuid as tenant_id) m, prompts p ${sql.unsafe(JOINS)} where p.repo_id = ${repoId}`;
  return row?.item;
}

/** Without a filter by owner or visibility, a workspace lists its own prompts; with one, also the public ones of others. */
function matches(sql: Sql, tenantId: string, search: PromptFilters) {
  const { tenant_handle: handle, tenant_id: ofTenant, upstream_repo_owner: from, upstream_repo_handle: of } = search;
  const looksOutside = search.is_public === "true" || handle !== undefined || ofTenant !== undefined;
  const types = search.repo_types ?? (search.repo_type === undefined ? undefined : [search.repo_type]);
  const part = search.query?.toLowerCase();
  const all = sql`true`;
  return sql`
    (p.tenant_id = ${tenantId} ${looksOutside ? sql`or p.is_public` : sql``})
    and ${ofTenant === undefined ? all : sql`p.tenant_id = ${ofTenant}`}
    and ${handle === undefined ? all : sql`p.tenant_id = (select id from workspaces where tenant_handle = ${handle})`}
    and ${search.is_public === undefined ? all : sql`p.is_public = ${search.is_public === "true"}`}
    and ${search.is_archived === "allow" ? all : sql`p.is_archived = ${search.is_archived === "true"}`}
    and ${search.has_commits === undefined ? all : sql`(p.num_commits > 0) = ${search.has_commits === "true"}`}
    and ${types === undefined ? all : sql`p.repo_type = any(${types}::text[])`}
    and ${search.source === undefined ? all : sql`p.source = ${search.source}`}
    and ${hasTags(sql, tenantId, "p.repo_id", search.tag_value_id)}
    and ${search.tags === undefined ? all : sql`p.tags @> ${search.tags}::text[]`}
    and ${part ? sql`(strpos(p.repo_handle, ${part}) > 0 or strpos(lower(p.description), ${part}) > 0)` : all}
    and ${
      from === undefined && of === undefined
        ? all
        : sql`p.upstream_repo_id in (
            select r.repo_id from prompts r left join workspaces x on x.id = r.tenant_id
            where (r.tenant_id = ${tenantId} or r.is_public)
              and ${of === undefined ? all : sql`r.repo_handle = ${of}`}
              and ${from === undefined ? all : sql`${from} in (x.tenant_handle, case when r.tenant_id = ${tenantId} then '-' end)`})`
    }`;
}

/**
 * Lists prompts as JSON: `{repos, total}`. Served by prompts_by_change where the order is that of changes. There are no
 * likes, downloads and views to sort by: they are all zero.
 * @returns undefined when the manifests of the page are larger than an answer may be
 */
export async function listPrompts(sql: Sql, tenantId: string, search: PromptSearch): Promise<string | undefined> {
  const direction = sql.unsafe(search.sort_direction === "asc" ? "asc" : "desc");
  const part = search.query?.toLowerCase();
  const isRelevance = search.sort_field === "relevance" && part;
  const relevance = isRelevance
    ? sql`(p.repo_handle = ${part})::int * 4 + starts_with(p.repo_handle, ${part})::int * 2 + (strpos(p.repo_handle, ${part}) > 0)::int ${direction},`
    : sql``;
  const names = search.with_latest_manifest ? Object.keys(COLUMNS) : PLAIN;
  const [row] = await sql<{ text: string | null }[]>`
    with found as materialized (select p.* from prompts p where ${matches(sql, tenantId, search)}),
    page as materialized (
      select p.*, row_number() over (order by ${relevance} p.updated_at ${direction}, p.repo_id) as place from found p
      order by place limit ${search.limit} offset ${search.offset})
    select case when ${!search.with_latest_manifest} or (select coalesce(sum(octet_length(c.manifest)), 0)
        from page join prompt_commits c on c.commit_id = page.last_commit_id) <= ${MAX_MANIFESTS}
      then (select json_build_object(
        'repos', coalesce(json_agg(${buildJsonObject(sql, COLUMNS, names)} order by p.place), '[]'),
        'total', (select count(*) from found))::text
      from (select ${tenantId}::uuid as tenant_id) m, page p ${sql.unsafe(JOINS)}) end as text`;
  return row!.text ?? undefined;
}

/** Counts the labels of prompts, the most frequent first. @returns `{tags}` as JSON */
export async function countTags(sql: Sql, tenantId: string, search: PromptFilters): Promise<string> {
  const [row] = await sql<{ text: string }[]>`
    select json_build_object('tags', coalesce(json_agg(json_build_object('tag', tag, 'count', count)
      order by count desc, tag), '[]'))::text as text
    from (select tag, count(*) from prompts p, unnest(p.tags) tag where ${matches(sql, tenantId, search)}
      group by tag order by count(*) desc, tag limit ${search.limit} offset ${search.offset}) counted`;
  return row!.text;
}

export async function updatePrompt(sql: Sql | Transaction, repoId: string, patch: PromptPatch): Promise<void> {
  const { description, readme, tags, is_public: isPublic, is_archived: isArchived } = patch;
  await sql`
    update prompts set updated_at = clock_timestamp(),
      description = ${description === undefined ? sql`description` : description},
      readme = ${readme === undefined ? sql`readme` : readme},
      tags = coalesce(${tags ?? null}::text[], tags),
      is_public = coalesce(${isPublic ?? null}::boolean, is_public),
      is_archived = coalesce(${isArchived ?? null}::boolean, is_archived)
    where repo_id = ${repoId}`;
}

/** Deletes prompts of a workspace with their commits and tags. @returns the ids of the deleted ones */
export async function deletePrompts(sql: Sql | Transaction, tenantId: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    delete from prompts where tenant_id = ${tenantId} and repo_id = any(${ids}::uuid[]) returning repo_id as id`;
  return rows.map(({ id }) => id);
}

/** Deletes everything of the registry that a workspace has. */
export async function deleteRegistry(sql: Sql | Transaction, tenantId: string): Promise<void> {
  await sql`delete from prompts where tenant_id = ${tenantId}`;
  await sql`delete from prompt_environments where tenant_id = ${tenantId}`;
}

/** Selects what a fork takes over of a prompt, which must exist. */
export async function selectForkSource(
  tx: Transaction,
  repoId: string,
): Promise<Pick<NewPrompt, "description" | "readme" | "tags" | "repo_type" | "source" | "original_repo_id">> {
  const [row] = await tx`
    select description, readme, tags, repo_type, source, original_repo_id from prompts where repo_id = ${repoId}`;
  return row as NewPrompt;
}

/**
 * Copies the latest `limit` commits of a prompt into another one, which has none: the same hashes with new ids. Positions
 * begin at 1.
 */
export async function copyCommits(
  tx: Transaction,
  from: string,
  to: Pick<NewPrompt, "repo_id" | "tenant_id">,
  limit: number,
): Promise<void> {
  await tx`
    with source as (
      select c.*, gen_random_uuid() as new_id, row_number() over (order by c.position) as new_position
      from (select * from prompt_commits where repo_id = ${from} order by position desc limit ${limit}) c),
    copied as (
      insert into prompt_commits (commit_id, repo_id, tenant_id, commit_hash, position, parent_id, parent_commit_hash,
        manifest, manifest_sha, prompt_manifest, description, created_by, full_name, created_at)
      select s.new_id, ${to.repo_id}, ${to.tenant_id}, s.commit_hash, s.new_position, b.new_id, s.parent_commit_hash,
        s.manifest, s.manifest_sha, s.prompt_manifest, s.description, s.created_by, s.full_name, s.created_at
      from source s left join source b on b.commit_id = s.parent_id
      returning commit_id, position)
    update prompts set num_commits = (select count(*) from copied),
      last_commit_id = (select commit_id from copied order by position desc limit 1)
    where repo_id = ${to.repo_id}`;
}
