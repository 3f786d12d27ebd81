import type { Sql } from "../../base/db/connect.ts";
import { utcText } from "../../base/db/utc-text.ts";
import type { Kind, Result } from "./schema.ts";

/** Things with names in Postgres: their table, and its columns of id, name and latest change. */
const THINGS: Partial<Record<Kind, { from: string; id: string; name: string; at: string; also?: string }>> = {
  project: {
    from: "projects",
    id: "project_id",
    name: "name",
    at: "modified_at",
    also: "reference_dataset_id is null",
  },
  experiment: {
    from: "projects",
    id: "project_id",
    name: "name",
    at: "modified_at",
    also: "reference_dataset_id is not null",
  },
  dataset: { from: "datasets", id: "dataset_id", name: "name", at: "modified_at" },
  prompt: { from: "prompts", id: "repo_id", name: "repo_handle", at: "updated_at", also: "not is_archived" },
  annotation_queue: { from: "annotation_queues", id: "queue_id", name: "name", at: "updated_at" },
  evaluator: { from: "evaluators", id: "evaluator_id", name: "name", at: "updated_at" },
  rule: { from: "rules", id: "rule_id", name: "display_name", at: "updated_at" },
};

/**
 * Finds things whose name contains the text, ignoring case, or whose id does: those with exactly this name first, then
 * those that begin with it, then the latest. Reads the names of the workspace.
 */
export async function findNamed(
  sql: Sql,
  { tenantId, personId }: { tenantId: string; personId: string },
  kinds: ReadonlySet<Kind>,
  text: string,
  limit: number,
): Promise<(Result & { kind: Kind })[]> {
  const lower = text.toLowerCase();
  const idPart = /^[0-9a-f-]{4,36}$/.test(lower) ? lower : null;
  const searches = Object.entries(THINGS)
    .filter(([kind]) => kinds.has(kind as Kind))
    .map(
      ([kind, { from, id, name, at, also }]) => sql`(
        select ${kind} as kind, ${sql.unsafe(id)}::text as id, ${sql.unsafe(name)} as name, null::text as project_id,
          null::text as project_name, ${sql.unsafe(utcText(at))} as at, ${rank(sql, name, lower)} as rank
        from ${sql.unsafe(from)} where tenant_id = ${tenantId} ${also === undefined ? sql`` : sql`and ${sql.unsafe(also)}`}
          and ${contains(sql, name, id, lower, idPart)}
        order by rank, ${sql.unsafe(at)} desc, 2 limit ${limit})`,
    );
  if (kinds.has("view")) {
    searches.push(sql`(
      select 'view' as kind, v.view_id::text as id, v.display_name as name, v.session_id::text as project_id,
        p.name as project_name, ${sql.unsafe(utcText("v.updated_at"))} as at, ${rank(sql, "v.display_name", lower)} as rank
      from saved_views v join projects p on p.tenant_id = v.tenant_id and p.project_id = v.session_id
      where v.tenant_id = ${tenantId} and (v.is_shared or v.owner_id = ${personId})
        and ${contains(sql, "v.display_name", "v.view_id", lower, idPart)}
      order by rank, v.updated_at desc, 2 limit ${limit})`);
  }
  if (searches.length === 0) return [];
  const [first, ...more] = searches;
  const rows = await sql<(Result & { kind: Kind; rank: number })[]>`
    ${first!} ${more.length > 0 ? more.map((search) => sql`union all ${search} `) : sql``}`;
  return rows.map(({ rank: _rank, ...row }) => row);
}

const rank = (sql: Sql, name: string, lower: string) =>
  sql`case when lower(${sql.unsafe(name)}) = ${lower} then 0 when starts_with(lower(${sql.unsafe(name)}), ${lower}) then 1
    else 2 end`;

const contains = (sql: Sql, name: string, id: string, lower: string, idPart: string | null) =>
  idPart === null
    ? sql`strpos(lower(${sql.unsafe(name)}), ${lower}) > 0`
    : sql`(strpos(lower(${sql.unsafe(name)}), ${lower}) > 0 or strpos(${sql.unsafe(id)}::text, ${idPart}) > 0)`;

/** Returns the names of projects. */
export async function findProjectNames(sql: Sql, tenantId: string, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    select project_id as id, name from projects where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}
