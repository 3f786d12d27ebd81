import type { Sql } from "../../base/db/connect.ts";
import type { RunningRow } from "../runs/sql.ts";

export interface Registration {
  serverId: string;
  hostName: string;
  process: string;
  internalUrl: string;
  graphs: string[];
  slots: number;
  /** Instance of a deployment as which the control plane started it. */
  instanceId: string | null;
}

export async function upsertServer(sql: Sql, server: Registration): Promise<void> {
  await sql`
    insert into servers (server_id, host_name, process, internal_url, graphs, slots, reads_changes, instance_id)
    values (${server.serverId}, ${server.hostName}, ${server.process}, ${server.internalUrl}, ${server.graphs}::text[],
      ${server.slots}, true, ${server.instanceId})
    on conflict (server_id) do update set heartbeat_at = clock_timestamp(), graphs = excluded.graphs,
      slots = excluded.slots, reads_changes = excluded.reads_changes`;
}

/** Updates the graphs that the server can run, unless the control plane has retired it (control/runtime/deployment-database.ts). */
export async function updateGraphs(sql: Sql, serverId: string, graphs: string[]): Promise<void> {
  await sql`update servers set graphs = ${graphs}::text[] where server_id = ${serverId} and slots is not null`;
}

export interface OtherServer {
  server_id: string;
  host_name: string;
  process: string;
  /** Changes with each of its beats. It comes from a clock: only its change is significant. */
  heartbeat: string;
  /** Whether its graph hosts read lists that are stored as changes; those of 0.6 do not. */
  reads_changes: boolean;
  /** Runs that it may execute at a time; null for servers of earlier versions and for retired ones. */
  slots: number | null;
  /** Runs that are running under it. */
  running: number;
}

export interface Heartbeat {
  /** False when other servers have declared this one dead. */
  held: boolean;
  others: OtherServer[];
  /** Runs that are running under this server. */
  running: RunningRow[];
  /** Whether runs are running under servers that have no row. */
  orphaned: boolean;
}

/** Renews the lease and reads its runs as of the same moment. Running runs are found by their partial index. */
export async function beat(sql: Sql, serverId: string): Promise<Heartbeat> {
  const [row] = await sql<{ held: boolean; others: string; running: string; orphaned: boolean }[]>`
    with held as (
      update servers set heartbeat_at = clock_timestamp() where server_id = ${serverId} returning 1
    ), running as materialized (
      select run_id, attempt, cancel_action, server_id from runs where status = 'running'
    ), loads as materialized (
      select server_id, count(*) as running from running group by server_id
    )
    select exists (select 1 from held) as held,
           (select coalesce(json_agg(json_build_object(
              'server_id', server_id, 'host_name', host_name, 'process', process, 'heartbeat', heartbeat_at::text,
              'reads_changes', reads_changes, 'slots', slots,
              'running', coalesce(l.running, 0))), '[]')
            from servers s left join loads l using (server_id) where server_id <> ${serverId})::text as others,
           (select coalesce(json_agg(json_build_object(
              'run_id', run_id, 'attempt', attempt, 'cancel_action', cancel_action)), '[]')
            from running where server_id = ${serverId})::text as running,
           exists (select 1 from running r
                   where not exists (select 1 from servers s where s.server_id = r.server_id)) as orphaned`;
  return {
    ...row!,
    others: JSON.parse(row!.others) as OtherServer[],
    running: JSON.parse(row!.running) as RunningRow[],
  };
}

export async function deleteServer(sql: Sql, serverId: string): Promise<void> {
  await sql`delete from servers where server_id = ${serverId}`;
}

/**
 * Expires the lease of a server.
 * @returns false when it has sent a heartbeat since
 */
export async function expireServer(sql: Sql, { server_id, heartbeat }: OtherServer): Promise<boolean> {
  const rows = await sql`
    delete from servers where server_id = ${server_id} and heartbeat_at::text = ${heartbeat} returning 1`;
  return rows.length > 0;
}

/** Counts the servers whose heartbeat is recent. */
export async function countLiveServers(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from servers where heartbeat_at >= now() - interval '1 minute'`;
  return row!.count;
}
