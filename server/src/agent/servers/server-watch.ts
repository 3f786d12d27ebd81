/**
 * Decides from this process's own observations whether other servers are gone. A server is gone when its heartbeat has
 * not changed for a whole lease of this process's monotonic time, during which this process polled often enough and was
 * answered promptly. A gap in these observations (a frozen process, a frozen or unreachable database) resets them all,
 * because the other server may have been unable to beat as well. No adjustable clock takes part, neither the machines'
 * nor the database's.
 */
import { hostname } from "node:os";

import { identifyProcess, processIsGone, type ProcessIdentity } from "../../base/db/process-identity.ts";
import type { OtherServer } from "./sql.ts";

export class ServerWatch {
  readonly #leaseMs: number;
  #seen = new Map<string, { heartbeat: string; since: number }>();
  #updatedAt = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /**
   * Records a query's result and returns the servers that are gone.
   * @param sentAt when the query was sent, by `performance.now()`
   * @param receivedAt when its result arrived
   */
  observe(others: OtherServer[], sentAt: number, receivedAt = performance.now()): OtherServer[] {
    const maxGap = this.#leaseMs / 2;
    const isContinuous = receivedAt - sentAt <= maxGap && receivedAt - this.#updatedAt <= maxGap;
    this.#updatedAt = receivedAt;
    const heartbeats = new Map<string, { heartbeat: string; since: number }>();
    for (const { server_id, heartbeat } of others) {
      const before = isContinuous ? this.#seen.get(server_id) : undefined;
      heartbeats.set(server_id, before?.heartbeat === heartbeat ? before : { heartbeat, since: receivedAt });
    }
    this.#seen = heartbeats;
    return others.filter((other) => {
      if (isDeadHere(other)) return true;
      return receivedAt - heartbeats.get(other.server_id)!.since >= this.#leaseMs;
    });
  }
}

/** This process's identity, as its row stores it. */
export const ownProcess = (): string => JSON.stringify(identifyProcess(process.pid));

/**
 * Whether it was a process of this machine that has exited. Machines may share a name: a pid has a meaning only within
 * the same boot and process namespace.
 */
function isDeadHere(other: OtherServer): boolean {
  if (other.host_name !== hostname()) return false;
  try {
    const identity = JSON.parse(other.process) as ProcessIdentity | null;
    if (identity === null) return false;
    return bootOrMachine(identity) === bootOrMachine(identifyProcess(process.pid)) && processIsGone(identity);
  } catch {
    return false;
  }
}

/** Boot and namespace, where the system reports them. */
const bootOrMachine = (identity: ProcessIdentity | null): string | undefined =>
  process.platform === "linux" ? identity?.started.split("/")[0] : "";
