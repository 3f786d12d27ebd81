import type { CheckpointClock } from "./checkpoint-clock.ts";

/** Newest checkpoint id of each namespace, as far as a saver has read or put it. Keeps the clock above all of them. */
export class NewestIds {
  #ids = new Map<string, string>();
  #clock: CheckpointClock;

  constructor(clock: CheckpointClock) {
    this.#clock = clock;
  }

  get(threadId: string, ns: string): string | undefined {
    return this.#ids.get(key(threadId, ns));
  }

  /** Records an id. Returns false when it is below the newest known one, which then stays. */
  observe(threadId: string, ns: string, id: string): boolean {
    const name = key(threadId, ns);
    const known = this.#ids.get(name);
    if (known !== undefined && known >= id) return known === id;
    this.#ids.set(name, id);
    this.#clock.observe(id);
    return true;
  }
}

const key = (threadId: string, ns: string): string => `${threadId}\0${ns}`;
