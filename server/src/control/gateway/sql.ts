/** Statements on running gateways. Only this file writes the table. */
import type { Sql } from "../../base/db/connect.ts";
import type { ProcessIdentity } from "../../base/db/process-identity.ts";

/** Time after its last report at which a gateway counts as gone, with its requests. */
const GONE = "15 seconds";
/** The same for the question of who serves now: a report is due every two seconds. */
const SILENT = "6 seconds";

export interface GatewayReport {
  id: string;
  host: string;
  process: ProcessIdentity;
  /** Time of the state that its table shows. */
  readAt: Date;
  /** Requests in progress, by id of their instance. */
  requests: Record<string, number>;
}

/** Records a gateway's state. */
export const reportGateway = (sql: Sql, { id, host, process, readAt, requests }: GatewayReport) => sql`
  insert into gateways (id, host, process, loaded_at, in_flight)
  values (${id}, ${host}, ${JSON.stringify(process)}::text::jsonb, ${readAt.toISOString()}::text::timestamptz,
    ${JSON.stringify(requests)}::text::jsonb)
  on conflict (id) do update set loaded_at = excluded.loaded_at, in_flight = excluded.in_flight, seen_at = now()`;

export const deleteGateway = (sql: Sql, id: string) => sql`delete from gateways where id = ${id}`;

export const deleteGoneGateways = (sql: Sql) => sql`
  delete from gateways where seen_at < now() - interval '1 minute'`;

/** Lists the processes of a machine's other gateways that have reported lately. */
export const otherGateways = (sql: Sql, own: string, host: string) => sql<{ process: ProcessIdentity }[]>`
  select process from gateways
  where host = ${host} and id <> ${own} and seen_at > now() - ${sql.unsafe(`interval '${SILENT}'`)} limit 1000`;

/**
 * Lists other gateways that forward requests to an instance, or have not yet loaded a state from after `since`, when
 * the instance left the table.
 */
export const usersOfInstance = (sql: Sql, own: string, instanceId: string, since: Date) => sql<
  { process: ProcessIdentity }[]
>`
  select process from gateways
  where id <> ${own} and seen_at > now() - ${sql.unsafe(`interval '${GONE}'`)}
    and (loaded_at < ${since.toISOString()}::text::timestamptz or in_flight ? ${instanceId}) limit 1000`;

/** Lists other gateways that have not yet loaded a state from after `since`. */
export const lateGateways = (sql: Sql, own: string, since: Date) => sql<{ process: ProcessIdentity }[]>`
  select process from gateways
  where id <> ${own} and seen_at > now() - ${sql.unsafe(`interval '${SILENT}'`)}
    and loaded_at < ${since.toISOString()}::text::timestamptz limit 1000`;
