-- Describes a role for identity/roles/built-in.ts; null for null.
create or replace function role_rights(_role uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('built_in', organization_id is null, 'name', name, 'permissions', to_jsonb(permissions))
  from roles where id = _role
$$;

-- Returns the workspace of a request that names none: the key's only one, or the only one of the key's user.
create or replace function only_workspace_of_key(_key uuid, _user uuid) returns uuid language sql stable as $$
  select case when count(*) = 1 then (array_agg(candidate.id))[1] end
  from (
    select workspace_id as id from api_key_workspaces where key_id = _key
    union
    select m.workspace_id
    from workspace_members m
    join workspaces w on w.id = m.workspace_id and w.deleted_at is null
    join api_keys k on k.id = _key and k.all_workspaces and k.organization_id = w.organization_id
    where m.user_id = _user
  ) candidate
$$;

-- Returns the workspaces that a user has access to: as a member, or as an administrator of the organization.
create or replace function workspaces_of_user(_user uuid) returns setof workspaces language sql stable as $$
  select w.*
  from workspaces w
  join organization_members om on om.organization_id = w.organization_id and om.user_id = _user
  join roles r on r.id = om.role_id
  where w.deleted_at is null and (
    exists (select 1 from workspace_members m where m.workspace_id = w.id and m.user_id = _user)
    or (r.organization_id is null and r.name = 'ORGANIZATION_ADMIN') or r.permissions @> '{organization:manage}')
$$;
