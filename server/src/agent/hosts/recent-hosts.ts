import type { GraphHost } from "./graph-host.ts";

const MAX_THREADS = 10_000;
/** Number of runs by which a thread's last host may be busier than the least busy one. */
const SLACK = 3;

/**
 * The host that ran each thread last: it has the thread's state in memory, and a project that keeps state in its modules
 * usually finds it again. A preference only: hosts are replaced, and other servers have their own.
 */
export class RecentHosts {
  #last = new Map<string, GraphHost>();

  note(threadId: string, host: GraphHost): void {
    // the newest last
    this.#last.delete(threadId);
    this.#last.set(threadId, host);
    if (this.#last.size > MAX_THREADS) this.#last.delete(this.#last.keys().next().value!);
  }

  forget(host: GraphHost): void {
    for (const [threadId, last] of this.#last) if (last === host) this.#last.delete(threadId);
  }

  /** @param able hosts that may take the run, the least busy one last */
  choose(threadId: string, able: GraphHost[]): GraphHost | undefined {
    const idlest = able.at(-1);
    const last = this.#last.get(threadId);
    if (!last || !idlest || !able.includes(last)) return idlest;
    return last.runs.size <= idlest.runs.size + SLACK ? last : idlest;
  }
}
