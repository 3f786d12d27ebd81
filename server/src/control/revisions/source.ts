import { existsSync } from "node:fs";

import type { Sql } from "../../base/db/connect.ts";
import type { Source } from "../deployment-records/schema.ts";
import { uploadFile } from "../uploads/receive-upload.ts";

export interface ServingRevision {
  deployment_id: string;
  tenant_id: string;
  name: string;
  revision_id: string;
  artifact_id: string;
  source: Source;
  source_tarball_path: string | null;
  /** Whether a live instance runs it, or another revision of the deployment is in progress. */
  is_attended: boolean;
}

/** Lists the revisions that serve and run on the control plane's machine. */
export const servingRevisions = (sql: Sql) => sql<ServingRevision[]>`
  select d.id as deployment_id, d.tenant_id, d.name, r.id as revision_id, r.artifact_id, r.source, r.source_tarball_path,
    exists (select from instances i where i.revision_id = r.id and i.state <> 'ended')
      or exists (select from revisions n where n.deployment_id = d.id and n.finished_at is null
        and n.status not in ('DEPLOYED', 'SKIPPED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED')
        and not n.interrupted_by_user) as is_attended
  from deployments d join revisions r on r.id = d.active_revision_id
  where d.status = 'READY' and r.artifact_id is not null and r.cluster is null
  order by d.name limit 10000`;

/**
 * Whether a revision can be built again: repositories and registries are asked then, an uploaded archive is here or
 * nowhere.
 */
export const hasSource = (
  directory: string,
  { source, source_tarball_path: path }: Pick<ServingRevision, "source" | "source_tarball_path">,
): boolean => source !== "internal_source" || (path !== null && existsSync(uploadFile(directory, path)));
