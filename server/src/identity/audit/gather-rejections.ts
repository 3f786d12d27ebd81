import type { AuditEntry } from "../../base/auth/principal.ts";

const WINDOW_MS = 60_000;
/** Distinct kinds of rejections per window; the rest are counted together. */
const MOST_KINDS = 200;

/**
 * Aggregates rejected attempts, so that a flood of them is not a flood of entries. The first of each kind (actor,
 * address, operation) is written at once; the rest of a minute is one entry with a count. A minute thus has at most 401
 * entries, and memory holds 200 of them.
 */
export class RejectionGathering {
  readonly #write: (entry: AuditEntry, occurrences: number) => void;
  #kinds = new Map<string, { entry: AuditEntry; more: number }>();
  #beyond: { entry: AuditEntry; more: number } | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(write: (entry: AuditEntry, occurrences: number) => void) {
    this.#write = write;
  }

  add(entry: AuditEntry): void {
    const { principal, ip, operation, status, target } = entry;
    const key = JSON.stringify([principal?.actor.kind, principal?.actor.id, ip, operation, status, target]);
    const known = this.#kinds.get(key);
    if (known) known.more += 1;
    else if (this.#kinds.size < MOST_KINDS) {
      this.#kinds.set(key, { entry, more: 0 });
      this.#write(entry, 1);
    } else {
      this.#beyond ??= { entry: { principal: null, ip: "", operation: "refused", target: {}, status }, more: 0 };
      this.#beyond.more += 1;
    }
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
  }

  /** Ends the window and writes the counts. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { entry, more } of this.#kinds.values()) if (more > 0) this.#write(entry, more);
    if (this.#beyond) this.#write(this.#beyond.entry, this.#beyond.more);
    this.#kinds = new Map();
    this.#beyond = null;
  }
}
