/**
 * Postgres connections that a deployment's agent servers may open, which is the limit of their role. Pools open
 * connections on demand, so most stay far below.
 */

/** Pools of an agent server: requests 10, queue 2, lease 2, frames, notifications, setup (agent/start/open-stores.ts). */
const SERVER = 17;
/** A graph host writes checkpoints on one connection and reads on three (graph-host/src/checkpoints). */
const PER_HOST = 4;
/** Hosts for isolated runs that every agent server may have. */
export const ISOLATED_HOSTS = 2;
/** Hosts other than those that take runs: the reserve, and those for isolated runs. */
const SPARE_HOSTS = 1 + ISOLATED_HOSTS;

/** Returns the most connections that one agent server may open. `own`: connections of its project's own code. */
export const connectionNeed = (hosts: number, own: number): number => SERVER + PER_HOST * (hosts + SPARE_HOSTS) + own;
