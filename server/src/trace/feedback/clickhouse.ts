import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { ChangeRow } from "./mirror-sql.ts";

const COLUMNS = [
  "tenant_id",
  "run_id",
  "id",
  "session_id",
  "trace_id",
  "key",
  "score",
  "value",
  "comment",
  "source",
  "failed",
  "created_at",
  "version",
  "deleted",
] as const;

const NIL = "00000000-0000-0000-0000-000000000000";

export async function insertFeedbackVersions(clickhouse: ClickHouse, changes: ChangeRow[]): Promise<void> {
  const lines = changes.map((change) =>
    JSON.stringify({
      tenant_id: change.tenant_id,
      run_id: change.run_id ?? NIL,
      id: change.feedback_id,
      session_id: change.session_id,
      trace_id: change.trace_id,
      key: change.key ?? "",
      score: change.score,
      value: change.value,
      comment: change.comment,
      source: change.source_type ?? "",
      failed: change.failed ?? false,
      created_at: change.created_at ?? "1970-01-01 00:00:00.000000",
      version: change.seq,
      deleted: change.key === null ? 1 : 0,
    }),
  );
  await clickhouse.insert("feedback", COLUMNS, Buffer.from(lines.join("\n")));
}
