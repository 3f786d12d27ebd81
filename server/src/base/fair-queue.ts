/**
 * Shares a bounded resource among tenants. Each tenant's work starts in order of arrival, and tenants take turns. While
 * other tenants are active, a tenant holds at most a part of the resource, so that a newcomer finds room without
 * waiting for slow work. A tenant that is alone may use all of it.
 *
 * The queue is bounded over all tenants. When it is full, the tenant with the most queued work is rejected, newest
 * first.
 */
import { deferred } from "./deferred.ts";

export interface FairQueueOptions {
  /** Units that may be held at once: slots, bytes, rows. A single piece of work that needs more runs alone. */
  capacity: number;
  /** Units that one tenant may hold while others are active. A single piece of work may be larger. */
  crowded: number;
  /** Queue length over all tenants. */
  waiting: number;
  waitMs: number;
  /** Creates the error for rejected work. */
  reject: () => Error;
}

/** Capacity held by one piece of work. */
export interface Slot {
  /** Adds units needed beyond those reserved. Never waits. */
  add(units: number): void;
  leave(): void;
}

interface Entry {
  units: number;
  enter: () => void;
  reject: () => void;
}

interface Tenant {
  held: number;
  waiting: Entry[];
  seenAt: number;
  /** Number of its last turn; 0 before the first. */
  turn: number;
}

/** A tenant counts as active for this long after its last work. */
const ACTIVE_MS = 60_000;
const PRUNE_MS = 1000;

export class FairQueue {
  readonly #o: FairQueueOptions;
  readonly #tenants = new Map<string, Tenant>();
  #held = 0;
  #waiting = 0;
  #turns = 0;
  #prunedAt = 0;

  constructor(options: FairQueueOptions) {
    this.#o = options;
  }

  /** Units held by all tenants. */
  get held(): number {
    return this.#held;
  }

  /** Whether work waits for room. */
  get isWaitedFor(): boolean {
    return this.#waiting > 0;
  }

  /** Resolves when the work may start. Rejects with the error of `reject` when no capacity is freed in time. */
  async enter(tenantId: string, units: number): Promise<Slot> {
    const tenant = this.#see(tenantId);
    const { promise, resolve, reject } = deferred<void>();
    const entry: Entry = { units, enter: resolve, reject: () => reject(this.#o.reject()) };
    tenant.waiting.push(entry);
    this.#waiting++;
    this.#serve();
    if (tenant.waiting.includes(entry)) await this.#wait(tenant, entry, promise);
    return this.#reserve(tenant, units);
  }

  async run<T>(tenantId: string, units: number, work: () => Promise<T>): Promise<T> {
    const slot = await this.enter(tenantId, units);
    try {
      return await work();
    } finally {
      slot.leave();
    }
  }

  async #wait(tenant: Tenant, entry: Entry, turn: Promise<void>): Promise<void> {
    if (this.#waiting > this.#o.waiting) this.#rejectNewest();
    const { waitMs } = this.#o;
    const timer = waitMs === Infinity ? undefined : setTimeout(() => this.#remove(tenant, entry), waitMs);
    await turn.finally(() => clearTimeout(timer));
  }

  #reserve(tenant: Tenant, reserved: number): Slot {
    let units = reserved;
    return {
      add: (more) => {
        units += more;
        tenant.held += more;
        this.#held += more;
      },
      leave: () => {
        tenant.held -= units;
        this.#held -= units;
        units = 0;
        this.#serve();
      },
    };
  }

  /** Starts queued work that fits. */
  #serve(): void {
    while (this.#waiting > 0) {
      const tenant = this.#next();
      if (!tenant) return;
      const { units, enter } = tenant.waiting[0]!;
      // smaller pieces do not overtake the next in turn, or it might starve
      if (this.#held > 0 && this.#held + units > this.#o.capacity) return;
      tenant.waiting.shift();
      this.#waiting--;
      tenant.held += units;
      this.#held += units;
      tenant.turn = ++this.#turns;
      enter();
    }
  }

  /** Returns the tenant that may start work and whose last turn is the oldest. */
  #next(): Tenant | undefined {
    let next: Tenant | undefined;
    for (const tenant of this.#tenants.values()) {
      const [entry] = tenant.waiting;
      if (entry && this.#isWithinPart(tenant, entry.units) && tenant.turn < (next?.turn ?? Infinity)) next = tenant;
    }
    return next;
  }

  #isWithinPart(tenant: Tenant, units: number): boolean {
    return this.#tenants.size === 1 || tenant.held === 0 || tenant.held + units <= this.#o.crowded;
  }

  #rejectNewest(): void {
    let longest: Tenant | undefined;
    for (const tenant of this.#tenants.values()) {
      if (tenant.waiting.length >= (longest?.waiting.length ?? 1)) longest = tenant;
    }
    if (longest) this.#remove(longest, longest.waiting.at(-1)!);
  }

  /** Removes a queued entry. Does nothing when it has just started. */
  #remove(tenant: Tenant, entry: Entry): void {
    const at = tenant.waiting.indexOf(entry);
    if (at < 0) return;
    tenant.waiting.splice(at, 1);
    this.#waiting--;
    entry.reject();
    this.#serve();
  }

  #see(tenantId: string): Tenant {
    const now = performance.now();
    const tenant = this.#tenants.get(tenantId) ?? { held: 0, waiting: [], seenAt: now, turn: 0 };
    tenant.seenAt = now;
    this.#tenants.set(tenantId, tenant);
    if (now - this.#prunedAt > PRUNE_MS) {
      this.#prunedAt = now;
      for (const [id, { held, waiting, seenAt }] of this.#tenants) {
        if (held === 0 && waiting.length === 0 && now - seenAt > ACTIVE_MS) this.#tenants.delete(id);
      }
    }
    return tenant;
  }
}
