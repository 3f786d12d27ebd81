import type { Sql } from "../../base/db/connect.ts";

/** JSON text: the latest feedback on a shared trace, without who gave it. feedback_by_trace finds it. */
export async function feedbackOfTrace(sql: Sql, tenantId: string, traceId: string, limit = 1000): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(json_build_object('id', feedback_id, 'key', key, 'score', score, 'value', value,
      'comment', comment, 'correction', correction, 'run_id', run_id, 'trace_id', trace_id,
      'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'),
      'modified_at', to_char(modified_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'),
      'feedback_source', json_build_object('type', source_type)) order by created_at desc, feedback_id), '[]')::text as items
    from (
      select * from feedback where tenant_id = ${tenantId} and trace_id = ${traceId}
      order by created_at desc, feedback_id limit ${limit}
    ) f`;
  return row!.items;
}
