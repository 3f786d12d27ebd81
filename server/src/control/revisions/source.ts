import { existsSync } from "node:fs";

import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Source } from "../deployments/schema.ts";
import { uploadFile } from "../uploads/receive-upload.ts";
import { UNFINISHED } from "./status.ts";

export interface ServingRevision {
  deployment_id: string;
  tenant_id: string;
  name: string;
  revision_id: string;
  artifact_id: string;
  source: Source;
  source_tarball_path: string | null;
}

/** Lists the revisions that serve and run on the control plane's machine; also in a database of Heddle 0.5. */
export const servingRevisions = (sql: Sql) => sql<ServingRevision[]>`
  select d.id as deployment_id, d.tenant_id, d.name, r.id as revision_id, r.artifact_id, r.source, r.source_tarball_path
  from deployments d join revisions r on r.id = d.active_revision_id
  where d.status = 'READY' and r.artifact_id is not null and to_jsonb(r) ->> 'cluster' is null
  order by d.name limit 10000`;

/** Whether a live instance runs a serving revision, or another revision of its deployment is in progress. */
export async function isAttended(
  sql: Sql | Transaction,
  { deployment_id: id, revision_id: revisionId }: ServingRevision,
) {
  const [row] = await sql<{ attended: boolean }[]>`
    select exists (select from instances where revision_id = ${revisionId} and state <> 'ended')
      or exists (select from revisions where deployment_id = ${id} and status = any(${UNFINISHED}::text[])
        and not interrupted_by_user) as attended`;
  return row!.attended;
}

/**
 * Whether a revision can be built again: repositories and registries are asked then, an uploaded archive is here or
 * nowhere.
 */
export const hasSource = (
  directory: string,
  { source, source_tarball_path: path }: Pick<ServingRevision, "source" | "source_tarball_path">,
): boolean => source !== "internal_source" || (path !== null && existsSync(uploadFile(directory, path)));
