import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Definition } from "./definition.ts";

export interface EvaluatorRow {
  id: string;
  name: string;
  description: string | null;
  type: "llm" | "code";
  version: number;
  newest_version: number;
  feedback_keys: string[];
  definition: Definition;
}

/** Finds a version of an evaluator, by default the newest. */
export async function findVersion(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  version?: number,
): Promise<EvaluatorRow | undefined> {
  const [row] = await sql<EvaluatorRow[]>`
    select e.evaluator_id as id, e.name, e.description, e.type, v.version, e.newest_version, e.feedback_keys,
      v.definition
    from evaluators e join evaluator_versions v on v.tenant_id = e.tenant_id and v.evaluator_id = e.evaluator_id
      and v.version = ${version === undefined ? sql`e.newest_version` : sql`${version}`}
    where e.tenant_id = ${tenantId} and e.evaluator_id = ${id}`;
  return row;
}

export interface NewEvaluator {
  tenant_id: string;
  evaluator_id: string;
  name: string;
  description: string | null;
  type: "llm" | "code";
  feedback_keys: string[];
  library_id: string | null;
  created_by: string | null;
  definition: Definition;
}

/** Inserts an evaluator with its first version. */
export async function insertEvaluator(tx: Sql | Transaction, row: NewEvaluator): Promise<void> {
  await tx`
    with inserted as (
      insert into evaluators (tenant_id, evaluator_id, name, description, type, newest_version, feedback_keys,
        library_id, created_by)
      values (${row.tenant_id}, ${row.evaluator_id}, ${row.name}, ${row.description}, ${row.type}, 1,
        ${row.feedback_keys}::text[], ${row.library_id}, ${row.created_by})
      returning tenant_id, evaluator_id, created_by)
    insert into evaluator_versions (tenant_id, evaluator_id, version, definition, created_by)
    select tenant_id, evaluator_id, 1, ${JSON.stringify(row.definition)}::text::jsonb, created_by from inserted`;
}

/** Adds keys that an evaluator gave and did not declare. */
export async function addFeedbackKeys(sql: Sql, tenantId: string, id: string, keys: string[]): Promise<void> {
  await sql`
    update evaluators set feedback_keys = array(select distinct unnest(feedback_keys || ${keys}::text[]) order by 1)
    where tenant_id = ${tenantId} and evaluator_id = ${id} and not feedback_keys @> ${keys}::text[]
      and cardinality(feedback_keys) < 100`;
}

/** Adds to the sums of a day. */
export async function addSpending(
  sql: Sql,
  row: { tenant_id: string; evaluator_id: string; version: number; isError: boolean; usd: string },
): Promise<void> {
  await sql`
    insert into evaluator_spending as s (tenant_id, evaluator_id, version, day, judgements, errors, spent_usd)
    select tenant_id, evaluator_id, ${row.version}, (now() at time zone 'UTC')::date, 1, ${row.isError ? 1 : 0},
      ${row.usd}::numeric
    from evaluators where tenant_id = ${row.tenant_id} and evaluator_id = ${row.evaluator_id}
    on conflict (tenant_id, evaluator_id, version, day) do update set judgements = s.judgements + 1,
      errors = s.errors + excluded.errors, spent_usd = s.spent_usd + excluded.spent_usd`;
}

/** Returns the project of the judges' traces, creating it if necessary. A project of that name may be the users' own. */
export async function ensureJudgeProject(
  sql: Sql,
  tenantId: string,
  newId: () => string,
): Promise<{ id: string; name: string }> {
  for (let attempt = 1; ; attempt++) {
    const [known] = await sql<{ id: string; name: string }[]>`
      select project_id as id, name from projects where tenant_id = ${tenantId} and of_evaluators`;
    if (known) return known;
    const name = attempt === 1 ? "evaluators" : `evaluators-${attempt}`;
    // no row: the name is taken, or another process has created the project
    await sql`
      insert into projects (project_id, tenant_id, name, of_evaluators, description)
      values (${newId()}, ${tenantId}, ${name}, true, 'Traces of evaluators. Rules do not match them.')
      on conflict do nothing`;
  }
}
