import type { Sql } from "../../base/db/connect.ts";

export async function upsertServer(
  sql: Sql,
  server: { serverId: string; hostName: string; process: string; internalUrl: string; graphs: string[] },
): Promise<void> {
  await sql`insert into servers (server_id, host_name, process, internal_url, graphs)
    values (${server.serverId}, ${server.hostName}, ${server.process}, ${server.internalUrl}, ${server.graphs}::text[])
    on conflict (server_id) do update set heartbeat_at = now(), graphs = excluded.graphs`;
}

/** What the server can run has changed. */
export async function updateGraphs(sql: Sql, serverId: string, graphs: string[]): Promise<void> {
  await sql`update servers set graphs = ${graphs}::text[] where server_id = ${serverId}`;
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
