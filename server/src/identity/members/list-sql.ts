import type { Sql } from "../../base/db/connect.ts";
import type { MemberQuery } from "./schema.ts";

export interface MemberRow {
  id: string;
  organization_id: string;
  tenant_id: string | null;
  created_at: Date;
  user_id: string;
  read_only: boolean;
  email: string;
  full_name: string | null;
  is_disabled: boolean;
  role_id: string | null;
  role_name: string | null;
  org_role_id: string;
  org_role_name: string;
  tenant_ids: string[];
  total: number;
}

export interface MemberScope {
  organizationId: string;
  /** Restricts the list to members of this workspace, with their role there. */
  workspaceId: string | null;
}

/**
 * Lists members by join time, then id. Organization administrators have access to every workspace without being listed.
 */
export function selectMembers(sql: Sql, scope: MemberScope, query: Partial<MemberQuery> = {}): Promise<MemberRow[]> {
  const { organizationId, workspaceId } = scope;
  return sql<MemberRow[]>`
    select coalesce(wm.id, om.id) as id, om.organization_id, wm.workspace_id as tenant_id,
      coalesce(wm.created_at, om.created_at) as created_at, u.id as user_id, coalesce(wm.read_only, false) as read_only,
      u.email, u.full_name, u.disabled_at is not null as is_disabled, wr.id as role_id, wr.display_name as role_name,
      r.id as org_role_id, r.display_name as org_role_name,
      array(select m.workspace_id from workspace_members m join workspaces w on w.id = m.workspace_id
            where m.user_id = u.id and w.organization_id = om.organization_id and w.deleted_at is null
            order by 1) as tenant_ids,
      count(*) over ()::int as total
    from organization_members om
    join users u on u.id = om.user_id
    join roles r on r.id = om.role_id
    left join workspace_members wm on wm.user_id = u.id and wm.workspace_id = ${workspaceId}
    left join roles wr on wr.id = wm.role_id
    where om.organization_id = ${organizationId} and (${workspaceId}::uuid is null or wm.id is not null)
      and (${query.emails ?? null}::text[] is null or u.email = any(${(query.emails ?? []).map((email) => email.toLowerCase())}::text[]))
      and (${query.user_ids ?? null}::uuid[] is null or u.id = any(${query.user_ids ?? []}::uuid[]))
      and (${query.is_disabled ?? null}::boolean is null or (u.disabled_at is not null) = ${query.is_disabled ?? false})
      and (${query.q ?? null}::text is null or strpos(lower(concat_ws(' ', u.full_name, u.email)), lower(${query.q ?? ""})) > 0)
    order by 4, 1 limit ${query.limit ?? 500} offset ${query.offset ?? 0}`;
}

export interface InvitationRow {
  id: string;
  organization_id: string;
  email: string;
  full_name: string | null;
  organization_role_id: string;
  organization_role_name: string;
  workspace_ids: string[];
  workspace_role_id: string | null;
  workspace_role_name: string | null;
  read_only: boolean;
  created_at: Date;
  total: number;
}

/** Lists invitations. Those of a workspace are the ones that name it. */
export function selectInvitations(
  sql: Sql,
  scope: MemberScope,
  query: Partial<MemberQuery> & { id?: string } = {},
): Promise<InvitationRow[]> {
  const { organizationId, workspaceId } = scope;
  return sql<InvitationRow[]>`
    select i.*, r.display_name as organization_role_name, wr.display_name as workspace_role_name,
      count(*) over ()::int as total
    from invitations i
    join roles r on r.id = i.organization_role_id
    left join roles wr on wr.id = i.workspace_role_id
    where i.organization_id = ${organizationId}
      and (${workspaceId}::uuid is null or ${workspaceId}::uuid = any(i.workspace_ids))
      and (${query.id ?? null}::uuid is null or i.id = ${query.id ?? null})
      and (${query.emails ?? null}::text[] is null or i.email = any(${(query.emails ?? []).map((email) => email.toLowerCase())}::text[]))
      and (${query.q ?? null}::text is null or strpos(lower(concat_ws(' ', i.full_name, i.email)), lower(${query.q ?? ""})) > 0)
    order by i.created_at, i.id limit ${query.limit ?? 500} offset ${query.offset ?? 0}`;
}
