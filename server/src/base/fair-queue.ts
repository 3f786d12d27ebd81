/**
 * Shares a bounded resource among tenants; without tenants, a semaphore whose work starts in order of arrival. Each tenant's work starts in order of arrival, and tenants take turns. While
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
  /** Units that one tenant may hold while others are active. A single piece of work may be larger. Default: all. */
  crowded?: number;
  /** Queue length over all tenants. Default: any. */
  waiting?: number;
  /** Longest wait. Default: any. */
  waitMs?: number;
  /** Creates the error for rejected work. */
  reject?: () => Error;
}

/** Capacity held by one piece of work. */
export interface Slot {
  /** Adds units needed beyond those reserved. Never waits. */
  add(units: number): void;
  /** Adds units if there is room and no work waits. */
  tryGrow(units: number): boolean;
  /** Adds units when there is room. Rejects with the error of `reject` when there is none in time. */
  grow(units: number): Promise<void>;
  give(units: number): void;
  /** Returns all units. Units for which the slot waits are not added any more. */
  leave(): void;
}

interface Held {
  units: number;
}

interface Entry {
  units: number;
  /** What its work holds already. */
  held: Held;
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
  readonly #o: Required<FairQueueOptions>;
  readonly #tenants = new Map<string, Tenant>();
  #held = 0;
  #waiting = 0;
  #turns = 0;
  #prunedAt = 0;

  constructor(options: FairQueueOptions) {
    const reject = () => new Error("the queue is full");
    this.#o = { crowded: options.capacity, waiting: Infinity, waitMs: Infinity, reject, ...options };
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
    const slot = this.slot(tenantId);
    await slot.grow(units);
    return slot;
  }

  async run<T>(work: () => Promise<T>, tenantId = "", units = 1): Promise<T> {
    const slot = await this.enter(tenantId, units);
    try {
      return await work();
    } finally {
      slot.leave();
    }
  }

  /** Returns a slot without units. */
  slot(tenantId: string): Slot {
    const held: Held = { units: 0 };
    const add = (units: number) => this.#add(this.#see(tenantId), held, units);
    const give = (units: number) => {
      add(-units);
      this.#serve();
    };
    return {
      add,
      give,
      tryGrow: (units) => this.#tryGrow(this.#see(tenantId), held, units),
      grow: (units) => this.#grow(this.#see(tenantId), held, units),
      leave: () => {
        const tenant = this.#see(tenantId);
        for (const entry of tenant.waiting.filter((waiting) => waiting.held === held)) {
          this.#remove(tenant, entry);
          entry.enter();
        }
        give(held.units);
      },
    };
  }

  #add(tenant: Tenant, held: Held, units: number): void {
    held.units += units;
    tenant.held += units;
    this.#held += units;
  }

  #tryGrow(tenant: Tenant, held: Held, units: number): boolean {
    if (this.#waiting > 0 || !this.#fits(units, held) || !this.#isWithinPart(tenant, units, held)) return false;
    this.#start(tenant, held, units);
    return true;
  }

  #start(tenant: Tenant, held: Held, units: number): void {
    this.#add(tenant, held, units);
    tenant.turn = ++this.#turns;
  }

  async #grow(tenant: Tenant, held: Held, units: number): Promise<void> {
    if (this.#tryGrow(tenant, held, units)) return;
    const { promise, resolve, reject } = deferred<void>();
    const entry: Entry = { units, held, enter: resolve, reject: () => reject(this.#o.reject()) };
    tenant.waiting.push(entry);
    this.#waiting++;
    this.#serve();
    if (!tenant.waiting.includes(entry)) return;
    if (this.#waiting > this.#o.waiting) this.#rejectNewest();
    const { waitMs } = this.#o;
    const timer = waitMs === Infinity ? undefined : setTimeout(() => this.#reject(tenant, entry), waitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  /** Starts queued work that fits. */
  #serve(): void {
    while (this.#waiting > 0) {
      const tenant = this.#next();
      if (!tenant) return;
      const { units, held, enter } = tenant.waiting[0]!;
      // smaller pieces do not overtake the next in turn, or it might starve
      if (!this.#fits(units, held)) return;
      tenant.waiting.shift();
      this.#waiting--;
      this.#start(tenant, held, units);
      enter();
    }
  }

  /** Returns the tenant that may start work and whose last turn is the oldest. */
  #next(): Tenant | undefined {
    let next: Tenant | undefined;
    for (const tenant of this.#tenants.values()) {
      const [entry] = tenant.waiting;
      if (!entry || !this.#isWithinPart(tenant, entry.units, entry.held)) continue;
      if (tenant.turn < (next?.turn ?? Infinity)) next = tenant;
    }
    return next;
  }

  /** Whether the units fit. Work that holds all that is held may exceed the capacity. */
  #fits(units: number, { units: own }: Held): boolean {
    return this.#held <= own || this.#held + units <= this.#o.capacity;
  }

  #isWithinPart(tenant: Tenant, units: number, { units: own }: Held): boolean {
    return this.#tenants.size === 1 || tenant.held <= own || tenant.held + units <= this.#o.crowded;
  }

  #rejectNewest(): void {
    let longest: Tenant | undefined;
    for (const tenant of this.#tenants.values()) {
      if (tenant.waiting.length >= (longest?.waiting.length ?? 1)) longest = tenant;
    }
    if (longest) this.#reject(longest, longest.waiting.at(-1)!);
  }

  /** Rejects a queued entry. Does nothing when it has just started. */
  #reject(tenant: Tenant, entry: Entry): void {
    if (!this.#remove(tenant, entry)) return;
    entry.reject();
    this.#serve();
  }

  #remove(tenant: Tenant, entry: Entry): boolean {
    const at = tenant.waiting.indexOf(entry);
    if (at < 0) return false;
    tenant.waiting.splice(at, 1);
    this.#waiting--;
    return true;
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
