import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Most earlier corrections that an evaluator takes over when its corrections become examples. */
const MAX_EARLIER = 1000;

/** A judgement whose correction has changed. */
export interface CorrectedJudgement {
  tenant_id: string;
  feedback_id: string;
  changed_at: string;
  attempts: number;
}

/** Claims corrections that are due; after `seconds` another process may claim them. */
export const claimCorrections = (sql: Sql, limit: number, seconds: number): Promise<CorrectedJudgement[]> =>
  sql<CorrectedJudgement[]>`
    update corrected_judgements set attempts = attempts + 1, available_at = now() + make_interval(secs => ${seconds})
    where (tenant_id, feedback_id) in (
      select tenant_id, feedback_id from corrected_judgements where available_at <= now()
      order by available_at limit ${limit} for update skip locked)
    returning tenant_id, feedback_id, changed_at::text, attempts`;

/** Ends the processing of a correction, unless it has changed meanwhile. */
export async function deleteCorrection(sql: Sql, row: CorrectedJudgement): Promise<void> {
  await sql`
    delete from corrected_judgements where tenant_id = ${row.tenant_id} and feedback_id = ${row.feedback_id}
      and changed_at = ${row.changed_at}::text::timestamptz`;
}

export interface JudgedRun {
  evaluator_id: string;
  id: string;
  project_id: string;
  trace_id: string;
  start_time: string;
}

/** Finds the run and the evaluator of a judgement; undefined for a deleted one, or one that no evaluator here gave. */
export async function findJudgedRun(sql: Sql, tenantId: string, feedbackId: string): Promise<JudgedRun | undefined> {
  const [row] = await sql<JudgedRun[]>`
    select e.evaluator_id, f.run_id as id, f.session_id as project_id, f.trace_id,
      to_char(f.start_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as start_time
    from feedback f join evaluators e on e.tenant_id = f.tenant_id
      and e.evaluator_id::text = left(f.source_metadata ->> 'evaluator_id', 36)
    where f.tenant_id = ${tenantId} and f.feedback_id = ${feedbackId} and f.run_id is not null
      and f.session_id is not null and f.trace_id is not null and f.start_time is not null`;
  return row;
}

export interface Correction {
  key: string;
  correction: unknown;
  score: number | null;
  value: unknown;
  comment: string | null;
}

/** Returns the corrected judgements of an evaluator on a run, oldest first. Served by feedback_by_run. */
export const findCorrectionsOfRun = (
  sql: Transaction,
  tenantId: string,
  evaluatorId: string,
  runId: string,
): Promise<Correction[]> => sql<Correction[]>`
  select key, correction, score, value, comment from feedback
  where tenant_id = ${tenantId} and run_id = ${runId} and source_type = 'model'
    and left(source_metadata ->> 'evaluator_id', 36) = ${evaluatorId} and correction is not null
  order by modified_at, feedback_id`;

/** Records the newest earlier corrections of an evaluator, so that they become examples too. */
export async function recordEarlierCorrections(
  sql: Sql | Transaction,
  tenantId: string,
  evaluatorId: string,
): Promise<void> {
  await sql`
    insert into corrected_judgements (tenant_id, feedback_id)
    select tenant_id, feedback_id from feedback
    where tenant_id = ${tenantId} and source_type = 'model' and source_metadata ->> 'evaluator_id' is not null
      and left(source_metadata ->> 'evaluator_id', 36) = ${evaluatorId} and correction is not null
    order by created_at desc limit ${MAX_EARLIER}
    on conflict (tenant_id, feedback_id) do update set changed_at = clock_timestamp(), available_at = now()`;
}

/** Returns the dataset that versions of an evaluator have had for its corrections, if it still exists. */
export async function findCorrectionsDataset(
  sql: Sql | Transaction,
  tenantId: string,
  evaluatorId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select d.dataset_id as id from evaluator_versions v
    join datasets d on d.tenant_id = v.tenant_id and d.dataset_id::text = v.definition #>> '{few_shot,dataset_id}'
    where v.tenant_id = ${tenantId} and v.evaluator_id = ${evaluatorId} order by v.version desc limit 1`;
  return row?.id;
}

/** Deletes what waits, of a workspace. */
export async function deleteCorrectionsOfWorkspace(sql: Sql | Transaction, tenantId: string): Promise<void> {
  await sql`delete from corrected_judgements where tenant_id = ${tenantId}`;
}
