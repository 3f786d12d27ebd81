import { bind, ch } from "../../base/clickhouse/fragment.ts";
import { notFound } from "../../base/errors.ts";
import { findProject } from "../projects/sql.ts";
import { readRows } from "../runs/read-rows.ts";
import { type PrebuiltSection, prebuiltSections } from "./prebuilt.ts";
import type { PrebuiltKind } from "./schema.ts";
import type { SeriesDeps } from "./series-point.ts";

/** Keys of feedback with a chart, the most frequent ones. */
const MAX_KEYS = 6;

/** @throws 404 when the workspace has no such project */
export async function readPrebuilt(
  { sql, clickhouse }: SeriesDeps,
  tenantId: string,
  projectId: string,
  kind: PrebuiltKind = "project",
): Promise<{ title: string; sections: PrebuiltSection[] }> {
  const project = await findProject(sql, tenantId, projectId);
  if (!project) throw notFound("Session not found");
  const keys = await readRows<{ key: string }>(
    clickhouse.forTenant(tenantId),
    "dashboards.feedback_keys",
    ch`select f.key as key from feedback as f final
      where f.tenant_id = ${bind("UUID", tenantId)} and f.session_id = ${bind("UUID", projectId)} and f.score is not null
      group by f.key order by count() desc, f.key limit ${bind("UInt32", MAX_KEYS)}`,
  );
  return {
    title: project.name,
    sections: prebuiltSections(
      kind,
      projectId,
      keys.map(({ key }) => key),
    ),
  };
}
