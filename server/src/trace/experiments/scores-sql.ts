import type { Sql } from "../../base/db/connect.ts";
import { matchesAny } from "../feedback/sql.ts";

/** Scores of one key in one experiment, in columns: element i of each belongs together. */
export interface ScoreColumns {
  project: string;
  key: string;
  /** A run occurs once for each of its scores. */
  runs: string[];
  scores: number[];
}

/**
 * Reads the scores of runs of experiments: those outside comparisons, or those of one comparison. Served by
 * feedback_by_session. Columns are joined texts: 75,000 scores are parsed in a tenth of the time of rows.
 */
export async function readScores(
  sql: Sql,
  tenantId: string,
  projects: string[],
  keys: string[] | undefined,
  comparisonId?: string | null,
): Promise<ScoreColumns[]> {
  const rows = await sql<{ project: string; key: string; runs: string; scores: string }[]>`
    select session_id as project, key, string_agg(run_id::text, ',') as runs, string_agg(score::text, ',') as scores
    from feedback
    where tenant_id = ${tenantId} and session_id = any(${projects}::uuid[]) and run_id is not null
      and score is not null and ${matchesAny(sql, "key", "text", keys)}
      and ${comparisonId ? sql`comparative_experiment_id = ${comparisonId}` : sql`comparative_experiment_id is null`}
    group by session_id, key order by key`;
  return rows.map(({ project, key, runs, scores }) => ({
    project,
    key,
    runs: runs.split(","),
    scores: scores.split(",").map(Number),
  }));
}

/** Returns which of the keys are better when lower. */
export async function findLowerIsBetter(sql: Sql, tenantId: string, keys: string[]): Promise<Set<string>> {
  const rows = await sql<{ key: string }[]>`
    select feedback_key as key from feedback_configs
    where tenant_id = ${tenantId} and feedback_key = any(${keys}::text[]) and is_lower_score_better`;
  return new Set(rows.map((row) => row.key));
}

/** Feedback of comparisons, which the averages of experiments leave out. */
export interface ComparativeFeedback {
  /** Keys that are used in comparisons only. */
  keys: string[];
  /** Feedback of other keys. */
  ids: string[];
}

/** Finds the feedback that comparisons of these experiments have. Served by feedback_by_session. */
export async function findComparativeFeedback(
  sql: Sql,
  tenantId: string,
  projects: string[],
): Promise<ComparativeFeedback> {
  const rows = await sql<{ key: string; only: boolean; ids: string[] }[]>`
    select key, bool_and(comparative_experiment_id is not null) as only,
      array_agg(feedback_id::text) filter (where comparative_experiment_id is not null) as ids
    from feedback
    where tenant_id = ${tenantId} and session_id = any(${projects}::uuid[]) and run_id is not null
    group by key having bool_or(comparative_experiment_id is not null)`;
  return {
    keys: rows.flatMap(({ key, only }) => (only ? [key] : [])),
    ids: rows.flatMap(({ only, ids }) => (only ? [] : ids)),
  };
}

export interface ExperimentRow {
  id: string;
  name: string;
  start_time: string;
  dataset: string | null;
  metadata: Record<string, unknown> | null;
}

const ROW = `project_id as id, name, to_char(start_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as start_time,
  reference_dataset_id as dataset, extra -> 'metadata' as metadata`;

export async function findExperimentRows(sql: Sql, tenantId: string, ids: string[]): Promise<ExperimentRow[]> {
  return sql<ExperimentRow[]>`
    select ${sql.unsafe(ROW)} from projects where tenant_id = ${tenantId} and project_id = any(${ids}::uuid[])`;
}

/** Lists the newest experiments of a dataset, oldest first. */
export async function listExperimentRows(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  limit: number,
  before?: string,
): Promise<ExperimentRow[]> {
  const rows = await sql<ExperimentRow[]>`
    select ${sql.unsafe(ROW)} from projects p
    where p.tenant_id = ${tenantId} and p.reference_dataset_id = ${datasetId}
      and ${before === undefined ? sql`true` : sql`p.start_time < ${before}::text::timestamptz`}
    order by p.start_time desc, p.project_id desc limit ${limit}`;
  return rows.toReversed();
}

/** Characters of a preview. */
const PREVIEW = 500;

export interface ExamplePreview {
  id: string;
  inputs: string;
  outputs: string | null;
}

/** Reads the beginnings of examples in their current states. */
export async function readExamplePreviews(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  ids: string[],
): Promise<Map<string, ExamplePreview>> {
  const rows = await sql<ExamplePreview[]>`
    select example_id as id, left(inputs::text, ${PREVIEW}) as inputs, left(outputs::text, ${PREVIEW}) as outputs
    from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and example_id = any(${ids}::uuid[])
      and replaced_at is null`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Selects the ids of a dataset's current examples in these splits. */
export async function findExamplesInSplits(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  splits: string[],
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select example_id as id from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null
      and metadata -> 'dataset_split' ?| ${splits}::text[]`;
  return new Set(rows.map((row) => row.id));
}

/** Lists the ids of a dataset's current examples. */
export async function listExampleIds(sql: Sql, tenantId: string, datasetId: string): Promise<string[]> {
  const [row] = await sql<{ ids: string[] }[]>`
    select coalesce(array_agg(example_id::text order by example_id), '{}') as ids from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null`;
  return row!.ids;
}
