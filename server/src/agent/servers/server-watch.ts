/**
 * Judges the other servers by what this one has seen. A server is gone when its heartbeat has not changed for a whole
 * lease of this process's own monotonic time, during which this process looked often enough and was answered promptly.
 * A gap in its own view (a frozen process, a frozen or unreachable database) starts all observations anew, because the
 * other server may have been as unable to beat. No clock that can be set takes part, neither the machines' nor the
 * database's.
 */
import { hostname } from "node:os";

import { identifyProcess, processIsGone, type ProcessIdentity } from "../../base/db/process-identity.ts";
import type { OtherServer } from "./sql.ts";

export class ServerWatch {
  readonly #leaseMs: number;
  #seen = new Map<string, { heartbeat: string; since: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /**
   * Notes what a query found, and names the servers that are gone.
   * @param asked when the query was sent, by `performance.now()`
   * @param answered when its answer came
   */
  look(others: OtherServer[], asked: number, answered = performance.now()): OtherServer[] {
    const longest = this.#leaseMs / 2;
    const seamless = answered - asked <= longest && answered - this.#lookedAt <= longest;
    this.#lookedAt = answered;
    const seen = new Map<string, { heartbeat: string; since: number }>();
    for (const { server_id, heartbeat } of others) {
      const before = seamless ? this.#seen.get(server_id) : undefined;
      seen.set(server_id, before?.heartbeat === heartbeat ? before : { heartbeat, since: answered });
    }
    this.#seen = seen;
    return others.filter((other) => {
      if (isDeadHere(other)) return true;
      return answered - seen.get(other.server_id)!.since >= this.#leaseMs;
    });
  }
}

/** The process as its row names it. */
export const ownProcess = (): string => JSON.stringify(identifyProcess(process.pid));

/**
 * Whether it was a process of this machine that no longer lives. Machines may share a name: only the same boot and
 * process namespace make a pid mean something.
 */
function isDeadHere(other: OtherServer): boolean {
  if (other.host_name !== hostname()) return false;
  try {
    const identity = JSON.parse(other.process) as ProcessIdentity | null;
    if (identity === null) return false;
    return placeOf(identity) === placeOf(identifyProcess(process.pid)) && processIsGone(identity);
  } catch {
    return false;
  }
}

/** Boot and namespace, where the system tells them. */
const placeOf = (identity: ProcessIdentity | null): string | undefined =>
  process.platform === "linux" ? identity?.started.split("/")[0] : "";
