/** Statements on revisions for callers. Those of their processing are in queue-sql.ts. */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Source, SourceConfig } from "../deployments/schema.ts";
import { type SecretReference, setLatestRevision } from "../deployments/sql.ts";
import { type Status, UNFINISHED } from "./status.ts";

/** Names of the variables that differ between two environments. */
export interface VariableChanges {
  added: string[];
  changed: string[];
  removed: string[];
}

export interface RevisionRow {
  id: string;
  deployment_id: string;
  number: string;
  source: Source;
  source_config: SourceConfig;
  secret_references: SecretReference[] | null;
  repo_ref: string | null;
  langgraph_config_path: string | null;
  image_uri: string | null;
  source_tarball_path: string | null;
  repo_commit_sha: string | null;
  status: Status;
  status_message: string | null;
  artifact_id: string | null;
  /** Cluster that runs it: `own`, or the id of a listener. Null: the control plane's machine. */
  cluster: string | null;
  /** Image that was built of its source for the cluster, by digest. */
  built_image: string | null;
  /** Names of its environment's variables; null for revisions of earlier versions. */
  variables: string[] | null;
  variable_changes: VariableChanges | null;
  /** Name of the caller who made it; null for revisions of versions before 0.8. */
  created_by: string | null;
  /** Earlier revision that it deploys again: a rollback. */
  redeploy_of: string | null;
  created_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

const REVISION = `r.id, r.deployment_id, r.number, r.source, r.source_config, r.secret_references, r.repo_ref,
  r.langgraph_config_path, r.image_uri, r.source_tarball_path, r.repo_commit_sha, r.status, r.status_message,
  r.artifact_id, r.cluster, r.built_image, r.variables, r.variable_changes,
  r.created_by, r.redeploy_of, r.created_at, r.updated_at, r.finished_at`;

export async function findRevision(
  sql: Sql | Transaction,
  deploymentId: string,
  id: string,
): Promise<RevisionRow | undefined> {
  const [row] = await sql<RevisionRow[]>`
    select ${sql.unsafe(REVISION)} from revisions r where r.deployment_id = ${deploymentId} and r.id = ${id}`;
  return row;
}

/** Lists revisions, newest first. */
export const listRevisions = (
  sql: Sql | Transaction,
  deploymentId: string,
  { limit, offset, status, remote }: { limit: number; offset: number; status?: string[]; remote?: boolean },
) => sql<RevisionRow[]>`
  select ${sql.unsafe(REVISION)} from revisions r
  where r.deployment_id = ${deploymentId}
    and (${status ?? null}::text[] is null or r.status = any(${status ?? null}::text[]))
    and ${remote === undefined ? sql`true` : sql`(r.source_config->>'listener_id' is not null) = ${remote}`}
  order by r.number desc limit ${limit} offset ${offset}`;

/**
 * Selects builds that serve, may be rolled back to, or are in progress: the newest deployed ones of each deployment.
 */
export const keptBuilds = (sql: Sql, each: number) => sql<{ id: string }[]>`
  select artifact_id as id from (
    select artifact_id, row_number() over (partition by deployment_id order by max(number) desc) as place
    from revisions where artifact_id is not null and status = 'DEPLOYED' group by deployment_id, artifact_id) built
  where place <= ${each}
  union
  select coalesce(artifact_id, id) from revisions
  where status = any(${UNFINISHED}::text[])
  union
  select r.artifact_id from deployments d join revisions r on r.id = d.active_revision_id`;

export type NewRevision = Omit<
  RevisionRow,
  "number" | "status" | "status_message" | "created_at" | "updated_at" | "finished_at"
>;

/** Inserts a revision and makes it the deployment's latest. The deployment must be locked. */
export async function insertRevision(tx: Transaction, revision: NewRevision): Promise<void> {
  await tx`
    insert into revisions (id, deployment_id, number, source, source_config, secret_references, repo_ref,
      langgraph_config_path, image_uri, source_tarball_path, repo_commit_sha, artifact_id, cluster, built_image,
      variables, variable_changes, created_by, redeploy_of, status)
    select ${revision.id}, ${revision.deployment_id},
      coalesce((select max(number) from revisions where deployment_id = ${revision.deployment_id}), 0) + 1,
      ${revision.source}, ${JSON.stringify(revision.source_config)}::text::jsonb,
      ${revision.secret_references ? JSON.stringify(revision.secret_references) : null}::text::jsonb, ${revision.repo_ref},
      ${revision.langgraph_config_path}, ${revision.image_uri}, ${revision.source_tarball_path}, ${revision.repo_commit_sha},
      ${revision.artifact_id}, ${revision.cluster}, ${revision.built_image}, ${revision.variables}::text[],
      ${revision.variable_changes ? JSON.stringify(revision.variable_changes) : null}::text::jsonb,
      ${revision.created_by}, ${revision.redeploy_of}, 'CREATING'`;
  await tx`insert into revision_events (revision_id, status, attempt) values (${revision.id}, 'CREATING', 0)`;
  await setLatestRevision(tx, revision.deployment_id, revision.id);
}

/** @returns false when it has already ended */
export async function interruptRevision(
  tx: Transaction,
  id: string,
  before: Status[],
  message = "Interrupted by a caller.",
): Promise<boolean> {
  const { count } = await tx`
    update revisions set status = 'INTERRUPTED', interrupted_by_user = true, updated_at = now(),
      status_message = ${message}
    where id = ${id} and status = any(${before}::text[])`;
  if (count === 1) {
    await tx`insert into revision_events (revision_id, status, attempt, message)
      select id, status, attempt, status_message from revisions where id = ${id}`;
  }
  return count === 1;
}

/** Lists the revisions of a deployment that occupy its slot: instances of theirs are starting. */
export const findDeploying = (tx: Transaction, deploymentId: string) => tx<{ id: string }[]>`
  select id from revisions where deployment_id = ${deploymentId} and status in ('DEPLOYING', 'UNKNOWN')`;

/** Interrupts the unfinished revisions of a deployment that is deleted. The deployment must be locked. */
export const interruptAll = (tx: Transaction, deploymentId: string) => tx`
  update revisions set status = 'INTERRUPTED', interrupted_by_user = true, status_message = 'The deployment is deleted.',
    updated_at = now()
  where deployment_id = ${deploymentId}
    and status = any(${UNFINISHED}::text[])`;
