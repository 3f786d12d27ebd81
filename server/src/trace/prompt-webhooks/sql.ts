import type { Sql, Transaction } from "../../base/db/connect.ts";
import { receiverOrigin } from "../../base/webhooks/receiver-origin.ts";
import type { WebhookTables } from "../../base/webhooks/sql.ts";

/** Tables of the messages about prompts. */
export const PROMPT_WEBHOOKS: WebhookTables = {
  deliveries: "prompt_webhook_deliveries",
  attempts: "prompt_webhook_attempts",
  receivers: "prompt_webhook_receivers",
};

type Trigger = "commit" | "tag:create" | "tag:update";

export interface PromptWebhookRow {
  id: string;
  tenant_id: string;
  url: string;
  /** Names; the values are in the secrets. */
  headers: string[];
  include_prompts: string[] | null;
  exclude_prompts: string[] | null;
  triggers: Trigger[];
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `webhook_id as id, tenant_id, url, headers, include_prompts, exclude_prompts, triggers, created_at,
  updated_at`;

export const selectWebhooks = (sql: Sql, tenantId: string, limit: number): Promise<PromptWebhookRow[]> => sql<
  PromptWebhookRow[]
>`
  select ${sql.unsafe(COLUMNS)} from prompt_webhooks where tenant_id = ${tenantId}
  order by prompt_webhooks.created_at, webhook_id limit ${limit}`;

export async function selectWebhook(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  lock?: "lock",
): Promise<PromptWebhookRow | undefined> {
  const [row] = await sql<PromptWebhookRow[]>`
    select ${sql.unsafe(COLUMNS)} from prompt_webhooks where tenant_id = ${tenantId} and webhook_id = ${id}
    ${lock ? sql`for update` : sql``}`;
  return row;
}

export type NewWebhook = Omit<PromptWebhookRow, "created_at" | "updated_at">;

/** @returns undefined when the id is taken, or the workspace already has `max` */
export async function insertWebhook(
  tx: Transaction,
  row: NewWebhook,
  max: number,
): Promise<PromptWebhookRow | undefined> {
  const [inserted] = await tx<PromptWebhookRow[]>`
    insert into prompt_webhooks (webhook_id, tenant_id, url, receiver, headers, include_prompts, exclude_prompts, triggers)
    select ${row.id}, ${row.tenant_id}, ${row.url}, ${receiverOrigin(row.url)}, ${row.headers}::text[], ${row.include_prompts}::uuid[],
      ${row.exclude_prompts}::uuid[], ${row.triggers}::text[]
    where (select count(*) from prompt_webhooks where tenant_id = ${row.tenant_id}) < ${max}
    on conflict do nothing returning ${tx.unsafe(COLUMNS)}`;
  return inserted;
}

/** Replaces a webhook. Its waiting messages go to the new URL. */
export async function updateWebhook(tx: Transaction, row: NewWebhook): Promise<PromptWebhookRow> {
  const [updated] = await tx<PromptWebhookRow[]>`
    with moved as (
      update prompt_webhook_deliveries set url = ${row.url}, receiver = ${receiverOrigin(row.url)}
      where webhook_id = ${row.id} and status = 'pending' and url <> ${row.url})
    update prompt_webhooks set url = ${row.url}, receiver = ${receiverOrigin(row.url)}, headers = ${row.headers}::text[],
      include_prompts = ${row.include_prompts}::uuid[], exclude_prompts = ${row.exclude_prompts}::uuid[],
      triggers = ${row.triggers}::text[], updated_at = clock_timestamp()
    where tenant_id = ${row.tenant_id} and webhook_id = ${row.id} returning ${tx.unsafe(COLUMNS)}`;
  return updated!;
}

/** Deletes a webhook with its messages. @returns whether there was one */
export async function deleteWebhook(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  const rows = await tx`delete from prompt_webhooks where tenant_id = ${tenantId} and webhook_id = ${id} returning 1`;
  return rows.length > 0;
}

/** Change of a prompt that its workspace's webhooks may report. */
export interface ReportedChange {
  event: Trigger;
  tenant_id: string;
  repo_id: string;
  commit_id: string;
  tag_name: string | null;
  created_by: string;
  /** Ids of the webhooks that do not report it; true: none does. */
  skip_webhooks?: boolean | string[] | null | undefined;
}

/**
 * Inserts a message for each webhook that reports the change, in the transaction that writes the change. A change of a
 * webhook comes before or after: it moves the messages that it finds. An empty list of prompts selects as none does: the
 * console sends it for all prompts.
 */
export async function insertPromptDeliveries(tx: Transaction, change: ReportedChange): Promise<void> {
  const { skip_webhooks: skip } = change;
  if (skip === true) return;
  await tx`
    insert into prompt_webhook_deliveries
      (tenant_id, webhook_id, repo_id, commit_id, event, tag_name, changed_by, url, receiver)
    select w.tenant_id, w.webhook_id, ${change.repo_id}, ${change.commit_id}, ${change.event}, ${change.tag_name},
           ${change.created_by}, w.url, w.receiver
    from prompt_webhooks w
    where w.tenant_id = ${change.tenant_id} and ${change.event} = any(w.triggers)
      and (coalesce(cardinality(w.include_prompts), 0) = 0 or ${change.repo_id}::uuid = any(w.include_prompts))
      and not coalesce(${change.repo_id}::uuid = any(w.exclude_prompts), false)
      and not w.webhook_id = any(${Array.isArray(skip) ? skip : []}::uuid[])
    for share of w`;
}

export interface PromptMessage {
  webhook_id: string;
  url: string;
  /** JSON text. */
  text: string;
}

/**
 * Locks the webhook, so that its headers and its URL are of one change.
 * @returns undefined when the delivery, its webhook, or its prompt has been deleted
 */
export async function selectPromptMessage(sql: Transaction, deliveryId: string): Promise<PromptMessage | undefined> {
  const [row] = await sql<{ webhook_id: string; url: string; fields: string; manifest: string }[]>`
    select w.webhook_id, w.url, c.manifest, json_build_object(
        'prompt_id', p.repo_id, 'prompt_name', p.repo_handle, 'commit_hash', c.commit_hash,
        'created_at', to_char(d.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'created_by', d.changed_by, 'event', d.event, 'tag_name', d.tag_name)::text as fields
    from prompt_webhook_deliveries d join prompts p using (repo_id) join prompt_commits c using (commit_id)
      join prompt_webhooks w on w.webhook_id = d.webhook_id
    where d.delivery_id = ${deliveryId} for share of w`;
  // the manifest is sent as it was received
  return (
    row && {
      webhook_id: row.webhook_id,
      url: row.url,
      text: `${row.fields.slice(0, -1)}, "manifest": ${row.manifest}}`,
    }
  );
}
