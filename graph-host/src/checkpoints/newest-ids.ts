import type { CheckpointClock } from "./checkpoint-clock.ts";

/** Newest checkpoint id of each namespace, as far as a saver has read or put it. Keeps the clock above all of them. */
export class NewestIds {
  /** By thread and namespace. */
  #ids = new Map<string, Map<string, string>>();
  #clock: CheckpointClock;

  constructor(clock: CheckpointClock) {
    this.#clock = clock;
  }

  inThread(threadId: string): ReadonlyMap<string, string> {
    return this.#thread(threadId);
  }

  /** Records an id. Returns false when it is below the newest known one, which then stays. */
  observe(threadId: string, ns: string, id: string): boolean {
    const ids = this.#thread(threadId);
    const known = ids.get(ns);
    if (known !== undefined && known >= id) return known === id;
    ids.set(ns, id);
    this.#clock.observe(id);
    return true;
  }

  #thread(threadId: string): Map<string, string> {
    let ids = this.#ids.get(threadId);
    if (!ids) this.#ids.set(threadId, (ids = new Map()));
    return ids;
  }
}
