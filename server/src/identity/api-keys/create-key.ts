import type { Sql, Transaction } from "../../base/db/connect.ts";
import { unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { hashKey, type KeyKind, newKey, shortKey } from "./key-text.ts";
import { insertKey } from "./sql.ts";

export interface KeyRequest {
  organizationId: string;
  kind: KeyKind;
  /** Owner of a personal key. */
  userId: string | null;
  description: string;
  readOnly: boolean;
  /** Null: never expires. */
  expiresAt: Date | null;
  /** Null: all workspaces, including future ones. */
  workspaceIds: string[] | null;
  /** Workspace of requests that name none. */
  defaultWorkspaceId: string | null;
  roleId: string | null;
  organizationRoleId: string | null;
}

export interface CreatedKey {
  id: string;
  /** Shown only once: only its hash is stored. */
  key: string;
}

/** Stores a key whose rights and workspaces are already checked. Throws 422 if it would already be expired. */
export async function createKey(sql: Sql | Transaction, request: KeyRequest): Promise<CreatedKey> {
  const { expiresAt, workspaceIds } = request;
  if (expiresAt && expiresAt.getTime() <= Date.now()) throw unprocessable("expires_at must be in the future");
  const key = newKey(request.kind);
  const id = uuid7();
  const row = {
    id,
    organization_id: request.organizationId,
    kind: request.kind,
    user_id: request.userId,
    key_hash: hashKey(key),
    short_key: shortKey(key),
    description: request.description,
    read_only: request.readOnly,
    role_id: request.roleId,
    organization_role_id: request.organizationRoleId,
    all_workspaces: workspaceIds === null,
    default_workspace_id: request.defaultWorkspaceId,
    expires_at: expiresAt,
  };
  await insertKey(sql, row, workspaceIds ?? []);
  return { id, key };
}
