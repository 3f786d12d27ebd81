/**
 * Connections to Postgres that agent servers of a deployment may open, which is what their role is limited to. Pools
 * open connections as they need them, so most stay far below.
 */

/** Pools of an agent server: requests 10, queue 2, lease 2, frames, notifications, set-up (agent/agent-server.ts). */
const SERVER = 17;
/** A graph host writes checkpoints on one connection and reads on three (graph-host/src/checkpoints). */
const PER_HOST = 4;
/** Hosts beside those that take runs: the reserve, and two for runs that have to be alone. */
const SPARE_HOSTS = 3;

/** Returns what one agent server may open. `own`: connections of its project's own code. */
export const connectionNeed = (hosts: number, own: number): number => SERVER + PER_HOST * (hosts + SPARE_HOSTS) + own;
