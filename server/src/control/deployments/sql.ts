/** Statements on deployments. Only this file writes the table. */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Status } from "../revisions/status.ts";
import type { DeploymentStatus, ListQuery, Source, SourceConfig } from "./schema.ts";

export interface SecretReference {
  name: string;
  secret_name: string;
  secret_key: string;
}

export interface DeploymentRow {
  id: string;
  tenant_id: string;
  name: string;
  slug: string;
  display_name: string | null;
  source: Source;
  source_config: SourceConfig;
  secret_references: SecretReference[] | null;
  status: DeploymentStatus;
  latest_revision_id: string | null;
  active_revision_id: string | null;
  delete_tracing_project: boolean;
  force_delete: boolean;
  /** Deployed reference of its repository: a branch, tag or commit. */
  git_ref: string | null;
  git_config_path: string | null;
  created_at: Date;
  updated_at: Date;
  /** Fields of its latest revision. */
  repo_ref: string | null;
  langgraph_config_path: string | null;
  image_uri: string | null;
  source_tarball_path: string | null;
  repo_commit_sha: string | null;
  latest_revision_status: Status | null;
  latest_revision_number: string | null;
  latest_revision_message: string | null;
  active_revision_number: string | null;
}

const DEPLOYMENT = `d.id, d.tenant_id, d.name, d.slug, d.display_name, d.source, d.source_config, d.secret_references,
  d.status, d.latest_revision_id, d.active_revision_id, d.delete_tracing_project, d.force_delete, d.git_ref,
  d.git_config_path, d.created_at, d.updated_at,
  r.repo_ref, r.langgraph_config_path, r.image_uri, r.source_tarball_path, r.repo_commit_sha,
  r.status as latest_revision_status, r.number as latest_revision_number, r.status_message as latest_revision_message,
  (select a.number from revisions a where a.id = d.active_revision_id) as active_revision_number`;

export async function findDeployment(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
): Promise<DeploymentRow | undefined> {
  const [row] = await sql<DeploymentRow[]>`
    select ${sql.unsafe(DEPLOYMENT)} from deployments d left join revisions r on r.id = d.latest_revision_id
    where d.tenant_id = ${tenantId} and d.id = ${id}`;
  return row;
}

/** Returns whether the deployment exists, even one that is being deleted. */
export async function deploymentExists(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select 1 from deployments where id = ${id}`;
  return rows.length > 0;
}

/** Returns whether the deployment exists and is not being deleted. */
export async function isDeploymentOpen(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select 1 from deployments where id = ${id} and status <> 'AWAITING_DELETE'`;
  return rows.length > 0;
}

/** Locks the deployment until the transaction ends, which serializes its writers. */
export async function lockDeployment(
  tx: Transaction,
  tenantId: string,
  id: string,
): Promise<DeploymentRow | undefined> {
  const [locked] = await tx`select 1 from deployments where tenant_id = ${tenantId} and id = ${id} for update`;
  return locked ? findDeployment(tx, tenantId, id) : undefined;
}

/**
 * Lists deployments: an exact match of the name first, because clients that search by name read only the first page;
 */
export function listDeployments(sql: Sql, tenantId: string, query: ListQuery): Promise<DeploymentRow[]> {
  const {
    name,
    name_contains: part,
    status,
    deployment_ids: ids,
    deployment_type: type,
    remote_reconciled: remote,
  } = query;
  return sql<DeploymentRow[]>`
    select ${sql.unsafe(DEPLOYMENT)} from deployments d left join revisions r on r.id = d.latest_revision_id
    where d.tenant_id = ${tenantId}
      and (${name ?? null}::text is null or d.name = ${name ?? null})
      and (${part ?? null}::text is null or strpos(d.name, ${part ?? ""}) > 0)
      and (${status ?? null}::text is null or d.status = ${status ?? null})
      and (${ids ?? null}::uuid[] is null or d.id = any(${ids ?? null}::uuid[]))
      and ${remote === undefined ? sql`true` : sql`(d.source_config->>'listener_id' is not null) = ${remote}`}
      -- revisions that run here have no image version
      and ${query.image_version === undefined}
      and (${type ?? null}::text is null or coalesce(d.source_config->>'deployment_type', 'prod') = ${type ?? null})
    order by (d.name = ${part ?? ""}) desc, d.created_at desc, d.id desc
    limit ${query.limit} offset ${query.offset}`;
}

export interface NewDeployment {
  id: string;
  tenant_id: string;
  name: string;
  source: Source;
  source_config: SourceConfig;
  secret_references: SecretReference[] | null;
  git_ref: string | null;
  git_config_path: string | null;
}

/**
 * Inserts a deployment. Its slug is its name, or one derived from it when another workspace has that slug or it is not
 * a valid host name (RFC 1035 §2.3.1: 63 letters, no dash at the end; `xn--` is reserved).
 * @returns false when the name is taken in the workspace
 */
export async function insertDeployment(tx: Transaction, deployment: NewDeployment): Promise<boolean> {
  const suffix = `-${deployment.id.replaceAll("-", "").slice(-8)}`;
  const { count } = await tx`
    insert into deployments (id, tenant_id, name, slug, source, source_config, secret_references, git_ref,
      git_config_path, status)
    select ${deployment.id}, ${deployment.tenant_id}, ${deployment.name},
      case when ${deployment.name} ~ '^xn--|-$' or exists (select 1 from deployments where slug = ${deployment.name})
        then rtrim(left(regexp_replace(${deployment.name}, '^xn--', 'x-'), 54), '-') || ${suffix} else ${deployment.name} end,
      ${deployment.source}, ${JSON.stringify(deployment.source_config)}::text::jsonb,
      ${deployment.secret_references ? JSON.stringify(deployment.secret_references) : null}::text::jsonb, ${deployment.git_ref},
      ${deployment.git_config_path}, 'AWAITING_DATABASE'
    on conflict (tenant_id, name) do nothing`;
  return count === 1;
}

export async function updateDeployment(
  tx: Transaction,
  id: string,
  change: Pick<DeploymentRow, "source_config" | "secret_references" | "display_name" | "git_ref" | "git_config_path">,
): Promise<void> {
  await tx`
    update deployments set source_config = ${JSON.stringify(change.source_config)}::text::jsonb,
      secret_references = ${change.secret_references ? JSON.stringify(change.secret_references) : null}::text::jsonb,
      display_name = ${change.display_name}, git_ref = ${change.git_ref}, git_config_path = ${change.git_config_path},
      updated_at = now()
    where id = ${id}`;
}

export const setLatestRevision = (tx: Transaction, id: string, revisionId: string) => tx`
  update deployments set latest_revision_id = ${revisionId}, updated_at = now() where id = ${id}`;

/** Locks a deployment that is neither being created nor deleted. @returns false for any other */
export async function lockReady(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx`select 1 from deployments where id = ${id} and status = 'READY' for update`;
  return rows.length > 0;
}

/** Lets a revision serve. */
export const setActiveRevision = (tx: Transaction, id: string, revisionId: string) => tx`
  update deployments set active_revision_id = ${revisionId}, updated_at = now() where id = ${id}`;

/** Sets the number of replicas of the serving revision. @returns false when another revision serves now */
export async function setScale(sql: Sql, id: string, revisionId: string, scale: number): Promise<boolean> {
  const { count } = await sql`
    update deployments set scale = ${scale} where id = ${id} and active_revision_id = ${revisionId}`;
  return count === 1;
}

export interface DeleteOptions {
  /** Whether to delete the tracing project with all its runs. */
  deleteTracingProject: boolean;
  /** Whether to proceed when parts cannot be removed. */
  force: boolean;
}

/** Marks a deployment for deletion. Options set earlier remain set. */
export async function markDeleting(
  tx: Transaction,
  id: string,
  { deleteTracingProject, force }: DeleteOptions,
): Promise<void> {
  await tx`
    update deployments set status = 'AWAITING_DELETE', updated_at = now(),
      delete_tracing_project = delete_tracing_project or ${deleteTracingProject}, force_delete = force_delete or ${force}
    where id = ${id}`;
}

export type PendingDeployment = Pick<
  DeploymentRow,
  "id" | "tenant_id" | "name" | "status" | "delete_tracing_project" | "force_delete"
>;

/** Lists deployments whose databases have to be created, or that have to be deleted. */
export const selectPendingDeployments = (sql: Sql, limit: number) => sql<PendingDeployment[]>`
  select id, tenant_id, name, status, delete_tracing_project, force_delete from deployments
  where status in ('AWAITING_DATABASE', 'AWAITING_DELETE') order by updated_at limit ${limit}`;

export async function markReady(sql: Sql, id: string): Promise<boolean> {
  const { count } = await sql`
    update deployments set status = 'READY', updated_at = now() where id = ${id} and status = 'AWAITING_DATABASE'`;
  return count === 1;
}

export const deleteDeploymentRow = (tx: Sql | Transaction, id: string) => tx`delete from deployments where id = ${id}`;

export async function countDeployments(sql: Sql, tenantId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from deployments where tenant_id = ${tenantId}`;
  return row!.count;
}
