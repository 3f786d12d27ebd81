import type { Sql } from "../../base/db/connect.ts";

/** Where the server that executes a run is reached by others. */
export async function selectServerUrl(sql: Sql, serverId: string): Promise<string | undefined> {
  const [row] = await sql<{ internal_url: string | null }[]>`
    select internal_url from servers where server_id = ${serverId}`;
  return row?.internal_url ?? undefined;
}

export async function upsertServer(
  sql: Sql,
  server: { serverId: string; hostName: string; process: string; internalUrl: string },
): Promise<void> {
  await sql`insert into servers (server_id, host_name, process, internal_url)
    values (${server.serverId}, ${server.hostName}, ${server.process}, ${server.internalUrl})
    on conflict (server_id) do update set heartbeat_at = now()`;
}

/** False when others have taken this server for dead. */
export async function updateHeartbeat(sql: Sql, serverId: string): Promise<boolean> {
  const rows = await sql`update servers set heartbeat_at = now() where server_id = ${serverId} returning 1`;
  return rows.length > 0;
}

export interface OtherServer {
  server_id: string;
  host_name: string;
  process: string;
  /** Silent for a whole lease, while Postgres was there to hear it. */
  expired: boolean;
}

export function selectOtherServers(sql: Sql, serverId: string, leaseSecs: number): Promise<OtherServer[]> {
  return sql<OtherServer[]>`
    select server_id, host_name, process,
           heartbeat_at < now() - make_interval(secs => ${leaseSecs})
           and pg_postmaster_start_time() < now() - make_interval(secs => ${leaseSecs}) as expired
    from servers where server_id <> ${serverId}`;
}

export async function deleteServer(sql: Sql, serverId: string): Promise<void> {
  await sql`delete from servers where server_id = ${serverId}`;
}
