import type { Sql } from "../../base/db/connect.ts";
import type { KeyKind } from "./key-text.ts";

/** Key as shown to the operator of the whole platform. */
export interface KeyOverviewRow {
  id: string;
  short_key: string;
  kind: KeyKind;
  description: string;
  read_only: boolean;
  /** Owner of a personal key. */
  email: string | null;
  role_name: string | null;
  /** Null: all workspaces of the organization or of the person. */
  workspace_names: string[] | null;
  organization_name: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

/** Lists keys, newest first. */
export function selectAllKeys(sql: Sql, withRevoked: boolean, limit = 10_000): Promise<KeyOverviewRow[]> {
  return sql<KeyOverviewRow[]>`
    select k.id, k.short_key, k.kind, k.description, k.read_only, u.email, r.display_name as role_name,
      case when not k.all_workspaces then coalesce((
        select array_agg(w.display_name order by w.display_name)
        from api_key_workspaces b join workspaces w on w.id = b.workspace_id where b.key_id = k.id), '{}')
      end as workspace_names,
      o.display_name as organization_name, k.created_at, k.expires_at, k.last_used_at, k.revoked_at
    from api_keys k
    join organizations o on o.id = k.organization_id
    left join users u on u.id = k.user_id
    left join roles r on r.id = k.role_id
    where ${withRevoked} or k.revoked_at is null
    order by k.created_at desc, k.id limit ${limit}`;
}

/** Revokes a key by id or by `keyHash` in hex. */
export async function revokeAnyKey(
  sql: Sql,
  selector: { id: string | null; keyHash: string | null },
): Promise<{ id: string; description: string; organization_id: string } | undefined> {
  const [row] = await sql<{ id: string; description: string; organization_id: string }[]>`
    update api_keys set revoked_at = now()
    where (id = ${selector.id} or key_hash = decode(${selector.keyHash}, 'hex')) and revoked_at is null
    returning id, description, organization_id`;
  return row;
}
