/**
 * Closes databases to deployments' Postgres roles. Postgres lets every role connect to every database until CONNECT is
 * revoked from PUBLIC. Advisory locks are kept by database, so a role that cannot connect cannot hold them either.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";

/** Databases that exist in every cluster. A session in template1 prevents the creation of others. */
const MAINTENANCE = ["postgres", "template1"];

/** Names of deployments' databases and of the roles that own them. */
const DEPLOYMENT_NAME = "^heddle_d_[0-9a-f]{32}$";

/**
 * Revokes CONNECT from PUBLIC on the database of this connection, the maintenance databases and all databases of
 * deployments, and ends sessions of deployments in databases other than their own. Logs the databases that stay open:
 * those of other applications, and those that this role may not close.
 */
export async function closeDatabases(sql: Sql, log: Log): Promise<void> {
  for (const name of await selectOpen(sql, { ours: true })) await closeDatabase(sql, name);
  await endForeignSessions(sql);
  const open = await selectOpen(sql, { ours: false });
  if (open.length === 0) return;
  const [row] = await sql<{ role: string }[]>`select current_user as role`;
  const names = open.length > 10 ? `${open.slice(0, 10).join(", ")} and ${open.length - 10} more` : open.join(", ");
  log.warn(
    `Deployments' Postgres roles can connect to these databases: ${names}. The platform's role ${row!.role} ` +
      "lacks the permission to revoke this, or they belong to other applications. Run as their owner: REVOKE " +
      "CONNECT ON DATABASE name FROM PUBLIC",
  );
}

/** Closes only the database of this connection. */
export async function closeOwnDatabase(sql: Sql): Promise<void> {
  const [row] = await sql<{ name: string; is_open: boolean }[]>`
    select datname as name, has_database_privilege('public', oid, 'connect') as is_open
    from pg_database where datname = current_database()`;
  if (row!.is_open) await closeDatabase(sql, row!.name);
}

export const NOT_PERMITTED = "42501";

/** Names of databases that PUBLIC can connect to. */
async function selectOpen(sql: Sql, { ours }: { ours: boolean }): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select datname as name from pg_database
    where datallowconn and has_database_privilege('public', oid, 'connect')
      and (not ${ours}::boolean or datname = current_database() or datname = any(${MAINTENANCE}::text[]) or datname ~ ${DEPLOYMENT_NAME})
    order by datname = current_database() desc, datname limit 1000`;
  return rows.map((row) => row.name);
}

/**
 * Closes one database; ignores missing permission. Roles of the operator that own objects or have rights in it, or are
 * connected, keep their access.
 */
async function closeDatabase(sql: Sql, name: string): Promise<void> {
  const keepers = await sql<{ name: string }[]>`
    select r.rolname as name from pg_database d, pg_roles r
    where d.datname = ${name} and r.rolcanlogin and not r.rolsuper and r.oid <> d.datdba
      and r.rolname !~ ${DEPLOYMENT_NAME}
      and (exists (select from pg_stat_activity a where a.datid = d.oid and a.usesysid = r.oid)
        or exists (select from pg_shdepend s where s.dbid = d.oid and s.refclassid = 'pg_authid'::regclass
                   and pg_has_role(r.oid, s.refobjid, 'member')))`;
  const close = () =>
    sql.begin(async (tx) => {
      for (const keeper of keepers) await tx`grant connect on database ${tx(name)} to ${tx(keeper.name)}`;
      await tx`revoke connect on database ${tx(name)} from public`;
    });
  await retryConcurrent(close).catch((error: unknown) => {
    if ((error as { code?: string }).code !== NOT_PERMITTED) throw error;
  });
}

/** Ends deployments' sessions in foreign databases: revoking CONNECT does not affect open sessions. */
async function endForeignSessions(sql: Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where usename ~ ${DEPLOYMENT_NAME} and datname <> usename
      and pg_has_role(current_user, usesysid, 'member')`;
}

/** Retries a change to a row of a shared catalog after a concurrent update. */
export async function retryConcurrent<T>(change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await change();
    } catch (error) {
      if (tries === 20 || !/tuple concurrently (updated|deleted)/.test((error as Error).message)) throw error;
      await sleep(10 * tries);
    }
  }
}
