import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { GrantRow } from "../grant.ts";
import type { KeyKind } from "./key-text.ts";

/** Credential and the requested workspace, if any. */
export interface KeyLookup {
  /** SHA-256 in hex. */
  key_hash: string;
  workspace_id: string | null;
}

export interface KeyGrantRow extends GrantRow {
  id: string;
  kind: KeyKind;
  description: string;
  user_id: string | null;
  user_disabled: boolean;
  expires_at: string | null;
  revoked_at: string | null;
  /** The only path at which the key is valid. */
  audience: string | null;
}

/**
 * Resolves keys, in the order of `lookups`; `key` is null where there is no such key. One statement covers a batch, so
 * that a flood of unknown keys is one query at a time. Served by the unique index on key_hash and then by primary and
 * unique keys.
 */
export function selectKeyGrants(
  sql: Sql,
  lookups: KeyLookup[],
): Promise<{ version: string; key: KeyGrantRow | null }[]> {
  return sql<{ version: string; key: KeyGrantRow | null }[]>`
    select (select version from identity_version) as version, found.key
    from unnest(${lookups.map((lookup) => lookup.key_hash)}::text[], ${lookups.map((lookup) => lookup.workspace_id)}::uuid[])
      with ordinality as wanted (key_hash, workspace_id, n)
    left join lateral (
      select jsonb_build_object(
        'id', k.id, 'kind', k.kind, 'description', k.description, 'user_id', k.user_id,
        'user_disabled', u.disabled_at is not null, 'expires_at', k.expires_at, 'revoked_at', k.revoked_at,
        'audience', k.audience,
        'organization_id', k.organization_id, 'names_workspace', meant.id is not null,
        'workspace_id', w.id, 'plan', w.plan, 'read_only', k.read_only or coalesce(wm.read_only, false),
        'key_role', role_rights(k.role_id), 'key_organization_role', role_rights(k.organization_role_id),
        'organization_role', role_rights(om.role_id), 'workspace_role', role_rights(wm.role_id)
      ) as key
      from api_keys k
      left join lateral (
        select coalesce(wanted.workspace_id, k.default_workspace_id, only_workspace_of_key(k.id, k.user_id)) as id
      ) meant on true
      left join workspaces w on w.id = meant.id and w.organization_id = k.organization_id and w.deleted_at is null
        and (k.all_workspaces or exists (
          select 1 from api_key_workspaces b where b.key_id = k.id and b.workspace_id = meant.id))
      left join users u on u.id = k.user_id
      left join organization_members om on om.user_id = k.user_id and om.organization_id = k.organization_id
      left join workspace_members wm on wm.user_id = k.user_id and wm.workspace_id = w.id
      where k.key_hash = decode(wanted.key_hash, 'hex')
    ) found on true
    order by wanted.n`;
}

export interface NewKey {
  id: string;
  organization_id: string;
  kind: KeyKind;
  user_id: string | null;
  key_hash: string;
  short_key: string;
  description: string;
  read_only: boolean;
  role_id: string | null;
  organization_role_id: string | null;
  all_workspaces: boolean;
  default_workspace_id: string | null;
  expires_at: Date | null;
}

export async function insertKey(sql: Sql | Transaction, key: NewKey, workspaceIds: string[]): Promise<void> {
  await sql`
    with created as (
      insert into api_keys (id, organization_id, kind, user_id, key_hash, short_key, description, read_only, role_id,
        organization_role_id, all_workspaces, default_workspace_id, expires_at)
      values (${key.id}, ${key.organization_id}, ${key.kind}, ${key.user_id}, decode(${key.key_hash}, 'hex'),
        ${key.short_key}, ${key.description}, ${key.read_only}, ${key.role_id}, ${key.organization_role_id},
        ${key.all_workspaces}, ${key.default_workspace_id}, ${key.expires_at})
      returning id
    )
    insert into api_key_workspaces (key_id, workspace_id)
    select created.id, workspace.id from created, unnest(${workspaceIds}::uuid[]) as workspace (id)
    on conflict do nothing`;
}

/** Key as serialized on the wire. */
export interface KeyRow {
  id: string;
  short_key: string;
  description: string;
  read_only: boolean;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  /** Null: every workspace of its owner. */
  workspace_names: string[] | null;
  default_workspace_name: string | null;
}

/**
 * Selects keys: those of `workspaceId` only, those of the person `userId`, or, with neither, the organization's service
 * keys.
 */
export interface KeyScope {
  organizationId: string;
  workspaceId?: string;
  userId?: string;
}

const inScope = (sql: Sql | Transaction, scope: KeyScope) => sql`
  k.organization_id = ${scope.organizationId} and k.revoked_at is null
  and k.kind = ${scope.userId === undefined ? "service" : "personal"}
  ${scope.userId === undefined ? sql`` : sql`and k.user_id = ${scope.userId}`}
  ${
    scope.workspaceId === undefined
      ? sql``
      : sql`and not k.all_workspaces
          and exists (select 1 from api_key_workspaces b where b.key_id = k.id and b.workspace_id = ${scope.workspaceId})
          and not exists (select 1 from api_key_workspaces b where b.key_id = k.id and b.workspace_id <> ${scope.workspaceId})`
  }`;

const columns = (sql: Sql | Transaction) => sql`
  k.id, k.short_key, k.description, k.read_only, k.created_at, k.last_used_at, k.expires_at,
  case when not k.all_workspaces then coalesce((
    select array_agg(w.display_name order by w.display_name)
    from api_key_workspaces b join workspaces w on w.id = b.workspace_id where b.key_id = k.id), '{}') end as workspace_names,
  (select display_name from workspaces w where w.id = k.default_workspace_id) as default_workspace_name`;

/** Lists keys that are not revoked, newest first. The contract has no cursor here, hence the hard limit. */
export function selectKeys(sql: Sql, scope: KeyScope, limit = 1000): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select ${columns(sql)} from api_keys k where ${inScope(sql, scope)}
    order by k.created_at desc, k.id limit ${limit}`;
}

export async function selectKey(sql: Sql, id: string): Promise<KeyRow> {
  const [row] = await sql<KeyRow[]>`select ${columns(sql)} from api_keys k where k.id = ${id}`;
  return row!;
}

/** @returns the row before the revocation, or undefined if no such key is in scope or it was already revoked */
export async function revokeKey(sql: Sql | Transaction, id: string, scope: KeyScope): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow[]>`
    update api_keys k set revoked_at = now() where k.id = ${id} and ${inScope(sql, scope)}
    returning ${columns(sql)}`;
  return row;
}

/** Revokes a person's keys in an organization that they leave. */
export async function revokePersonalKeys(
  sql: Sql | Transaction,
  organizationId: string,
  userId: string,
): Promise<void> {
  await sql`
    update api_keys set revoked_at = now()
    where user_id = ${userId} and organization_id = ${organizationId} and revoked_at is null`;
}

/** Limits of a key, which a key issued with it must not exceed. */
export interface KeyLimits {
  /** Whether the key has fewer rights than its owner or its roles. */
  narrowed: boolean;
  expires_at: Date | null;
  /** Null: all workspaces (of the organization or of its owner), including future ones. */
  workspace_ids: string[] | null;
}

export async function selectKeyLimits(sql: Sql | Transaction, id: string): Promise<KeyLimits | undefined> {
  const [row] = await sql<KeyLimits[]>`
    select k.read_only or not k.all_workspaces or (k.kind = 'personal' and k.role_id is not null) as narrowed,
      k.expires_at,
      case when not k.all_workspaces then coalesce((
        select jsonb_agg(b.workspace_id) from api_key_workspaces b where b.key_id = k.id), '[]') end as workspace_ids
    from api_keys k where k.id = ${id}`;
  return row;
}

/** Updates `last_used_at`, never backwards: servers write late and out of order. */
export async function touchKeys(sql: Sql, uses: { id: string; at: number }[]): Promise<void> {
  await sql`
    update api_keys k set last_used_at = greatest(k.last_used_at, used.at)
    from unnest(${uses.map((use) => use.id)}::uuid[], ${uses.map((use) => new Date(use.at).toISOString())}::text[]::timestamptz[])
      as used (id, at)
    where k.id = used.id`;
}
