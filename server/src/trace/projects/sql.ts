import type { Sql, Transaction } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";

/** A row of `projects` as it goes out. Times are UTC without a suffix and with six digits (contract §0.5). */
export interface Project {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  extra: Record<string, unknown> | null;
  start_time: string;
  end_time: string | null;
  default_dataset_id: string | null;
  reference_dataset_id: string | null;
  test_run_number: number | null;
  trace_tier: "longlived" | "shortlived" | null;
  retention_days: number | null;
}

const isoUtc = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;

const WIRE = `p.project_id as id, p.tenant_id, p.name, p.description, p.extra,
  ${isoUtc("p.start_time")} as start_time, ${isoUtc("p.end_time")} as end_time,
  p.default_dataset_id, p.reference_dataset_id, p.test_run_number, p.trace_tier, p.retention_days`;

/** The project's id; two statements only when there was none. The name's uniqueness decides races. */
export async function ensureProject(sql: Sql, tenantId: string, name: string): Promise<string> {
  for (;;) {
    const [known] = await sql<{ id: string }[]>`
      select project_id as id from projects where tenant_id = ${tenantId} and name = ${name}`;
    if (known) return known.id;
    const [made] = await sql<{ id: string }[]>`
      insert into projects (project_id, tenant_id, name) values (${uuid7()}, ${tenantId}, ${name})
      on conflict (tenant_id, name) do nothing
      returning project_id as id`;
    // nothing made: somebody else has, and the next look finds it unless it was deleted in between
    if (made) return made.id;
  }
}

export async function findProject(sql: Sql | Transaction, tenantId: string, id: string): Promise<Project | undefined> {
  const [row] = await sql<Project[]>`
    select ${sql.unsafe(WIRE)} from projects p where p.tenant_id = ${tenantId} and p.project_id = ${id}`;
  return row;
}
