import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Kind } from "./schema.ts";

export interface IntegrationRow {
  id: string;
  tenant_id: string;
  installation_id: string;
  name: string;
  kind: Kind;
  url: string;
  api_url: string | null;
  username: string;
  has_token: boolean;
  created_at: Date;
  updated_at: Date;
}

/** References to the secrets of an integration: its token, and that of its webhook. */
export const tokenSecretKey = (id: string) => ({ purpose: "git-token", id });
export const webhookSecretKey = (id: string) => ({ purpose: "git-webhook", id });

export async function findIntegration(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
): Promise<IntegrationRow | undefined> {
  const [row] = await sql<IntegrationRow[]>`select * from integrations where tenant_id = ${tenantId} and id = ${id}`;
  return row;
}

/** Finds an integration in any workspace. The caller must be authenticated by other means. */
export async function integrationOfAnybody(sql: Sql, id: string): Promise<IntegrationRow | undefined> {
  const [row] = await sql<IntegrationRow[]>`select * from integrations where id = ${id}`;
  return row;
}

/** Lists integrations, newest first. */
export const listIntegrations = (sql: Sql, tenantId: string, { limit, offset }: { limit: number; offset: number }) =>
  sql<IntegrationRow[]>`
    select * from integrations where tenant_id = ${tenantId}
    order by created_at desc, id desc limit ${limit} offset ${offset}`;

/** @returns undefined when the name is taken in the workspace */
export async function insertIntegration(
  tx: Transaction,
  integration: Omit<IntegrationRow, "installation_id" | "created_at" | "updated_at">,
): Promise<IntegrationRow | undefined> {
  const [row] = await tx<IntegrationRow[]>`
    insert into integrations (id, tenant_id, name, kind, url, api_url, username, has_token)
    values (${integration.id}, ${integration.tenant_id}, ${integration.name}, ${integration.kind}, ${integration.url}, ${integration.api_url}, ${integration.username},
      ${integration.has_token})
    on conflict (tenant_id, name) do nothing returning *`;
  return row;
}

export const lockIntegration = async (tx: Transaction, tenantId: string, id: string) => {
  const [row] = await tx<IntegrationRow[]>`
    select * from integrations where tenant_id = ${tenantId} and id = ${id} for update`;
  return row;
};

export const updateIntegration = (tx: Transaction, { id, name, api_url, username, has_token }: IntegrationRow) => tx`
  update integrations set name = ${name}, api_url = ${api_url}, username = ${username}, has_token = ${has_token},
    updated_at = now()
  where id = ${id}`;

export const isNameTaken = async (tx: Transaction, tenantId: string, id: string, name: string): Promise<boolean> => {
  const [row] = await tx`
    select 1 from integrations where tenant_id = ${tenantId} and name = ${name} and id <> ${id}`;
  return row !== undefined;
};

export const deleteIntegrationRow = (tx: Transaction, id: string) => tx`delete from integrations where id = ${id}`;

/** Returns the names of some deployments that use the integration. */
export const selectUsers = (tx: Transaction, tenantId: string, id: string) => tx<{ name: string }[]>`
  select name from deployments
  where tenant_id = ${tenantId} and source_config->>'integration_id' = ${id} and status <> 'AWAITING_DELETE'
  order by name limit 5`;
