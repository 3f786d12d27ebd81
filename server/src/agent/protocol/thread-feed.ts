import { deferred, type Deferred } from "../../base/deferred.ts";
import type { ProtocolEvent } from "./sql.ts";

/** Maximum characters of recent events kept in memory for each thread with readers. */
const RECENT_CHARACTERS = 256 * 1024;

/**
 * State shared by a thread's readers on this server: the number of its newest event, and the newest events themselves,
 * so that readers that keep up cause no queries. Readers that fall behind read from the database.
 */
export class ThreadFeed {
  readonly threadId: string;
  /** Number of the newest event known here; 0: none yet. */
  last = 0;
  readers = 0;
  closed = false;
  #recent: ProtocolEvent[] = [];
  #characters = 0;
  #more: Deferred<void> = deferred();
  readonly #load: (after: number) => Promise<ProtocolEvent[]>;

  constructor(threadId: string, load: (after: number) => Promise<ProtocolEvent[]>) {
    this.threadId = threadId;
    this.#load = load;
  }

  /** Adds consecutive events, newer than all known ones. */
  publish(events: ProtocolEvent[]): void {
    const fresh = events.filter(({ seq }) => seq > this.last);
    if (fresh.length === 0) return;
    if (fresh[0]!.seq !== this.last + 1) this.#forget();
    for (const event of fresh) {
      this.#recent.push(event);
      this.#characters += event.json.length;
    }
    let old = 0;
    while (this.#characters > RECENT_CHARACTERS && old < this.#recent.length) {
      this.#characters -= this.#recent[old]!.json.length;
      old += 1;
    }
    this.#recent.splice(0, old);
    this.last = events.at(-1)!.seq;
    this.#wake();
  }

  /** Notes that the database has newer events. */
  advance(last: number): void {
    if (last <= this.last) return;
    this.#forget();
    this.last = last;
    this.#wake();
  }

  /** Reads some of the events after number `after`, in order; empty if there are none yet. */
  async read(after: number): Promise<ProtocolEvent[]> {
    if (after >= this.last) return [];
    const first = this.#recent[0]?.seq ?? Infinity;
    if (first <= after + 1) return this.#recent.slice(after + 1 - first);
    return this.#load(after);
  }

  /** Resolves when there are events after `after`, or the feed is closed. */
  async waitFor(after: number): Promise<void> {
    while (this.last <= after && !this.closed) await this.#more.promise;
  }

  /** Ends all readers, because the server is stopping or the thread was deleted. */
  close(): void {
    this.closed = true;
    this.#wake();
  }

  #forget(): void {
    this.#recent = [];
    this.#characters = 0;
  }

  #wake(): void {
    const more = this.#more;
    this.#more = deferred();
    more.resolve();
  }
}
