import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Returns the id of a user's membership of the workspace, which identifies them as a reviewer (contract: identity). */
export async function findMembership(sql: Sql, workspaceId: string, userId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from workspace_members where workspace_id = ${workspaceId} and user_id = ${userId}`;
  return row?.id;
}

/** @returns false when the workspace has no such queue or no such member */
export async function assignReviewer(
  sql: Sql,
  tenantId: string,
  queueId: string,
  identityId: string,
): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    with pair as (
      select q.tenant_id, q.queue_id, m.id from annotation_queues q, workspace_members m
      where q.tenant_id = ${tenantId} and q.queue_id = ${queueId} and m.workspace_id = ${tenantId} and m.id = ${identityId}
    ), assigned as (
      insert into annotation_queue_reviewers (tenant_id, queue_id, identity_id) select * from pair on conflict do nothing)
    select exists (select 1 from pair) as found`;
  return row!.found;
}

/** @returns false when the workspace has no such queue */
export async function unassignReviewer(
  sql: Sql,
  tenantId: string,
  queueId: string,
  identityId: string,
): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    with gone as (
      delete from annotation_queue_reviewers
      where tenant_id = ${tenantId} and queue_id = ${queueId} and identity_id = ${identityId})
    select exists (
      select 1 from annotation_queues where tenant_id = ${tenantId} and queue_id = ${queueId}) as found`;
  return row!.found;
}

/** Whether a queue admits this reviewer: one for all, or one that they are assigned to. */
export async function mayReview(
  sql: Sql | Transaction,
  tenantId: string,
  queueId: string,
  identityId: string,
): Promise<boolean> {
  const [row] = await sql<{ may: boolean }[]>`
    select q.reviewer_access_mode = 'any' or exists (
      select 1 from annotation_queue_reviewers a
      where a.tenant_id = q.tenant_id and a.queue_id = q.queue_id and a.identity_id = ${identityId}) as may
    from annotation_queues q where q.tenant_id = ${tenantId} and q.queue_id = ${queueId}`;
  return row?.may ?? false;
}
