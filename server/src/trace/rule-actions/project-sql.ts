import type { Sql } from "../../base/db/connect.ts";

const MAX_PROJECTS = 1000;

/** Lists the projects whose runs a rule looks at: never the one of the evaluators' own traces. */
export async function listRuleProjects(
  sql: Sql,
  tenantId: string,
  { project_id, dataset_id }: { project_id: string | null; dataset_id: string | null },
): Promise<string[]> {
  const rows = await sql<{ project_id: string }[]>`
    select project_id from projects
    where tenant_id = ${tenantId} and not of_evaluators
      and ${project_id === null ? sql`true` : sql`project_id = ${project_id}`}
      and ${dataset_id === null ? sql`true` : sql`reference_dataset_id = ${dataset_id}`}
    order by project_id limit ${MAX_PROJECTS}`;
  return rows.map((row) => row.project_id);
}
