import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { contains } from "../../base/db/containment.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { pageTotal } from "../../base/db/page-total.ts";
import type { Page } from "../../base/http/pagination.ts";
import { permits } from "../custom-auth/conditions.ts";
import type { AssistantFilter, AssistantSearch, VersionSearch } from "./schema.ts";

/** Fields of an assistant that a host needs. */
export interface AssistantRow {
  assistant_id: string;
  graph_id: string;
  config: Record<string, unknown> | null;
}

export interface NewAssistant {
  assistant_id: string;
  graph_id: string;
  name: string;
  description: string | null;
  config: unknown;
  context: unknown;
  metadata: Record<string, unknown>;
}

/** Columns of `assistants a` or `assistant_versions a` by their names on the wire. */
const COLUMNS = {
  assistant_id: "a.assistant_id",
  graph_id: "a.graph_id",
  name: "a.name",
  description: "a.description",
  config: "a.config",
  context: "a.context",
  metadata: "a.metadata",
  version: "a.version",
  created_at: "a.created_at",
};
const ASSISTANT_COLUMNS = { ...COLUMNS, updated_at: "a.updated_at" };

const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

/**
 * Inserts an assistant and its first version.
 * @returns its JSON, or undefined when the id is taken
 */
export async function insertAssistant(sql: Sql, assistant: NewAssistant): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    with made as (
      insert into assistants (assistant_id, graph_id, name, description, config, context, metadata)
      values (${assistant.assistant_id}, ${assistant.graph_id}, ${assistant.name}, ${assistant.description},
              ${jsonOrNull(assistant.config)}::text::jsonb, ${jsonOrNull(assistant.context)}::text::jsonb,
              ${JSON.stringify(assistant.metadata)}::text::jsonb)
      on conflict do nothing
      returning assistants.*, assistant_wire(assistants)::text as wire
    ), first_version as (
      insert into assistant_versions (assistant_id, version, graph_id, name, description, config, context, metadata)
      select assistant_id, version, graph_id, name, description, config, context, metadata from made
    )
    select wire from made`;
  return row?.wire;
}

/** Replaces the configuration of an assistant in its first and only version. */
export async function reseedAssistant(
  sql: Sql,
  assistant: Pick<NewAssistant, "assistant_id" | "config" | "context">,
): Promise<void> {
  const { assistant_id: id } = assistant;
  await sql`
    with seed as (
      select ${jsonOrNull(assistant.config)}::text::jsonb as config, ${jsonOrNull(assistant.context)}::text::jsonb as context
    ), reseeded as (
      update assistants a set config = seed.config, context = seed.context, updated_at = now() from seed
      where assistant_id = ${id} and version = 1
        and not exists (select from assistant_versions v where v.assistant_id = a.assistant_id and v.version > 1)
        and (a.config, a.context) is distinct from (seed.config, seed.context)
      returning a.assistant_id
    )
    update assistant_versions v set config = seed.config, context = seed.context from seed, reseeded
    where v.assistant_id = reseeded.assistant_id and v.version = 1`;
}

export async function findAssistant(
  sql: Sql,
  id: string,
  sees?: readonly AccessCondition[],
): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    select assistant_wire(a)::text as wire from assistants a
    where assistant_id = ${id} and ${permits(sql, "a.metadata", sees)}`;
  return row?.wire;
}

export async function selectAssistantRow(sql: Sql, id: string): Promise<AssistantRow | undefined> {
  const [row] = await sql<AssistantRow[]>`
    select assistant_id, graph_id, config from assistants where assistant_id = ${id}`;
  return row;
}

/**
 * Merges a patch into the assistant as a new version.
 * @returns its JSON, or undefined when there is no such assistant
 */
export async function patchAssistant(
  sql: Sql,
  id: string,
  patch: Record<string, unknown>,
): Promise<string | undefined> {
  const [row] = await sql<{ wire: string | null }[]>`
    select patch_assistant(${id}, ${JSON.stringify(patch)}::text::jsonb)::text as wire`;
  return row?.wire ?? undefined;
}

/** Makes an earlier version, with all its fields, the current one. */
export async function restoreVersion(sql: Sql, id: string, version: number): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    update assistants a
    set version = v.version, graph_id = v.graph_id, name = v.name, description = v.description,
        config = v.config, context = v.context, metadata = v.metadata, updated_at = now()
    from assistant_versions v
    where a.assistant_id = ${id} and v.assistant_id = a.assistant_id and v.version = ${version}
    returning assistant_wire(a)::text as wire`;
  return row?.wire;
}

const matching = (sql: Sql, filter: AssistantFilter, sees?: readonly AccessCondition[]) => sql`
  ${contains(sql, "a.metadata", filter.metadata)}
  and ${permits(sql, "a.metadata", sees)}
  and ${typeof filter.graph_id === "string" ? sql`a.graph_id = ${filter.graph_id}` : sql`true`}
  and ${typeof filter.name === "string" ? sql`strpos(lower(a.name), lower(${filter.name})) > 0` : sql`true`}`;

/** assistants_by_creation serves the default order, assistants_by_metadata the filter. */
export async function searchAssistants(
  sql: Sql,
  search: AssistantSearch,
  sees?: readonly AccessCondition[],
): Promise<Page> {
  const where = matching(sql, search, sees);
  const descending = search.sort_order !== "asc";
  const [row] = await sql<Page[]>`
    with page as (
      select ${buildJsonObject(sql, ASSISTANT_COLUMNS, search.select)} as item
      from assistants a where ${where}
      order by a.${sql(search.sort_by ?? "created_at")} ${sql.unsafe(descending ? "desc" : "asc")},
               a.assistant_id ${sql.unsafe(descending ? "asc" : "desc")}
      limit ${search.limit} offset ${search.offset}
    ), found as (select count(*)::int as n, coalesce(json_agg(item), '[]')::text as items from page)
    select items, ${pageTotal(sql, sql`assistants a where ${where}`, search)} as total from found`;
  return row!;
}

export async function countAssistants(
  sql: Sql,
  filter: AssistantFilter,
  sees?: readonly AccessCondition[],
): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from assistants a where ${matching(sql, filter, sees)}`;
  return row!.n;
}

/** Lists versions, newest first. */
export async function listVersions(sql: Sql, id: string, search: VersionSearch): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(item), '[]')::text as items from (
      select ${buildJsonObject(sql, COLUMNS)} as item
      from assistant_versions a
      where a.assistant_id = ${id} and ${contains(sql, "a.metadata", search.metadata)}
      order by a.version desc
      limit ${search.limit} offset ${search.offset}
    ) page`;
  return row!.items;
}

export async function assistantExists(sql: Sql, id: string): Promise<boolean> {
  return (await sql`select 1 from assistants where assistant_id = ${id}`).length > 0;
}

/**
 * Cancels the assistant's runs: pending ones end at once, running ones are signalled.
 * @returns the number of running ones
 */
export async function cancelRunsOfAssistant(sql: Sql, id: string): Promise<number> {
  const [row] = await sql<{ running: number }[]>`
    select count(*) filter (where c.outcome = 'signalled')::int as running
    from (select run_id, thread_id from runs
          where assistant_id = ${id} and status in ('pending', 'running') order by thread_id, seq) r,
         cancel_run(r.run_id, r.thread_id, 'interrupt', 'its assistant was deleted') c`;
  return row!.running;
}

export async function selectThreadsOfAssistant(sql: Sql, id: string): Promise<string[]> {
  const rows = await sql<{ thread_id: string }[]>`
    select thread_id from threads where metadata @> ${JSON.stringify({ assistant_id: id })}::text::jsonb`;
  return rows.map((row) => row.thread_id);
}

/** Deletes the assistant with its versions and runs, and updates the status of these runs' threads. */
export async function deleteAssistantRow(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql<{ deleted: boolean }[]>`select delete_assistant(${id}) as deleted`;
  return row!.deleted;
}
