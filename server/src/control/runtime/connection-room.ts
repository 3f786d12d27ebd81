import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";

/** Connections that the platform's servers need: pools of the control plane and the trace platform, plus a margin. */
const PLATFORM_CONNECTIONS = 40;

interface Room {
  role: string;
  is_super: boolean;
  /** Connection limit of this Postgres (`max_connections`). */
  most: number;
  for_supers: number;
  for_reserved: number;
  uses_reserved: boolean;
  /** Sum of the deployments' limits. */
  limits: number;
}

/**
 * Warns when deployments together could use up all connections of their Postgres, where none are reserved for the
 * platform.
 * @param roles roles of the deployments
 */
export async function warnOfConnections(sql: Sql, log: Log, roles: string[]): Promise<void> {
  const [room] = await sql<Room[]>`
    select current_user as role, r.rolsuper as is_super, current_setting('max_connections')::int as most,
      current_setting('superuser_reserved_connections')::int as for_supers,
      -- since Postgres 16
      coalesce(current_setting('reserved_connections', true), '0')::int as for_reserved,
      exists (select from pg_roles p where p.rolname = 'pg_use_reserved_connections'
              and pg_has_role(current_user, p.oid, 'usage')) as uses_reserved,
      (select coalesce(sum(greatest(rolconnlimit, 0)), 0)::int from pg_roles where rolname = any(${roles}::text[])) as limits
    from pg_roles r where r.rolname = current_user`;
  const { role, is_super: isSuper, most, for_supers: forSupers, for_reserved: forReserved, limits } = room!;
  const reserved = isSuper ? forSupers + forReserved : room!.uses_reserved ? forReserved : 0;
  const open = most - forSupers - forReserved;
  const lacking = PLATFORM_CONNECTIONS - reserved;
  if (lacking <= 0 || limits <= open - lacking) return;
  const remedy = isSuper
    ? `set superuser_reserved_connections to ${PLATFORM_CONNECTIONS}`
    : `set reserved_connections to ${PLATFORM_CONNECTIONS} and run GRANT pg_use_reserved_connections TO "${role}" (Postgres 16)`;
  log.warn(
    `Deployments may together open ${limits} of the ${open} connections that Postgres allows, which could leave ` +
      `none for the platform. Raise max_connections, or ${remedy}.`,
  );
}
