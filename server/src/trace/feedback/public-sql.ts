import type { Sql } from "../../base/db/connect.ts";
import type { Share } from "../runs/share-sql.ts";
import type { FeedbackFilter } from "./schema.ts";
import { matchesAny, has } from "./sql.ts";

type PublicFilter = Pick<FeedbackFilter, "run" | "key" | "source" | "has_comment" | "has_score">;

/**
 * Returns the latest feedback on the runs of a shared trace in its project as JSON text, without its authors. Served by
 * feedback_by_trace.
 */
export async function feedbackOfTrace(
  sql: Sql,
  { tenant_id, project_id, trace_id }: Share,
  { run, key, source, has_comment, has_score }: PublicFilter,
  page: { limit: number; offset: number },
): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(json_build_object('id', feedback_id, 'key', key, 'score', score, 'value', value,
      'comment', comment, 'correction', correction, 'run_id', run_id, 'trace_id', trace_id,
      'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'),
      'modified_at', to_char(modified_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'),
      'feedback_source', json_build_object('type', source_type)) order by created_at desc, feedback_id), '[]')::text as items
    from (
      select * from feedback where tenant_id = ${tenant_id} and trace_id = ${trace_id} and session_id = ${project_id}
        and ${matchesAny(sql, "run_id", "uuid", run)} and ${matchesAny(sql, "key", "text", key)}
        and ${matchesAny(sql, "source_type", "text", source)}
        and ${has(sql, "comment", has_comment)} and ${has(sql, "score", has_score)}
      order by created_at desc, feedback_id limit ${page.limit} offset ${page.offset}
    ) f`;
  return row!.items;
}
