import { serializeRevisionConfig } from "../deployment-records/serialize-deployment.ts";
import type { Revision } from "./schema.ts";
import type { RevisionRow } from "./sql.ts";

/** Serializes a revision. */
export const serializeRevision = (row: RevisionRow): Revision => ({
  id: row.id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  status: row.status,
  status_message: row.status_message,
  source: row.source,
  source_revision_config: serializeRevisionConfig(row),
});
