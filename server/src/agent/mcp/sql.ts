import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { permits } from "../custom-auth/conditions.ts";

export interface ToolRow {
  assistant_id: string;
  graph_id: string;
  tool: string;
  description: string | null;
}

/**
 * Assistants that are tools for the caller: the default ones, open to all, and those that have a description and that the
 * conditions permit. `metadata.mcp` decides otherwise: true or false.
 */
export interface ToolSearch {
  defaults: string[];
  /** Name that no assistant may have. */
  reserved: string;
  sees: readonly AccessCondition[];
  /** Only the tool with this name. */
  tool?: string;
  limit: number;
  offset: number;
}

/**
 * Assistants as tools, oldest first. A tool's name is the assistant's, with characters replaced that MCP does not
 * allow. Where several would have the same name, the oldest gets it, defaults first; the others end with a part of
 * their id.
 */
export async function selectTools(sql: Sql, search: ToolSearch): Promise<ToolRow[]> {
  return sql<ToolRow[]>`
    with plain as (
      select a.assistant_id, a.graph_id, a.description, a.created_at,
             a.assistant_id = any(${search.defaults}::uuid[]) as is_default,
             left(regexp_replace(coalesce(nullif(a.name, ''), a.graph_id), '[^A-Za-z0-9_.-]+', '_', 'g'), 50) as name
      from assistants a
      where (a.assistant_id = any(${search.defaults}::uuid[]) or ${permits(sql, "a.metadata", search.sees)})
        and coalesce(nullif(a.metadata -> 'mcp', 'null') = 'true',
                     a.assistant_id = any(${search.defaults}::uuid[]) or a.description <> '', false)
    ), named as (
      select *, case
          when row_number() over (partition by name order by is_default desc, created_at, assistant_id) = 1
               and name <> ${search.reserved} then name
          else name || '_' || right(assistant_id::text, 12) end as tool
      from plain
    )
    select assistant_id, graph_id, tool, description from named
    where ${search.tool === undefined ? sql`true` : sql`tool = ${search.tool}`}
    order by created_at, assistant_id limit ${search.limit} offset ${search.offset}`;
}

/** A call that stopped at an interrupt and whose thread is kept for the answer. */
export interface InterruptedCall {
  assistant_id: string;
  interrupts: { id: string; value: unknown }[];
}

/** The interrupted call of a thread: its last run is temporary, but has left the thread. runs_by_thread. */
export async function selectInterruptedCall(sql: Sql, threadId: string): Promise<InterruptedCall | undefined> {
  const [row] = await sql<InterruptedCall[]>`
    select r.assistant_id,
           coalesce((select json_agg(json_build_object('id', i ->> 'id', 'value', i -> 'value'))
                     from jsonb_each(t.interrupts) e, jsonb_array_elements(e.value) i where i ? 'id'), '[]') as interrupts
    from threads t join runs r on r.thread_id = t.thread_id
    where t.thread_id = ${threadId} and t.status = 'interrupted' and r.temporary and r.kwargs ? 'keep_interrupted'
    order by r.seq desc limit 1`;
  return row && row.interrupts.length > 0 ? row : undefined;
}
