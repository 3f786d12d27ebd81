/**
 * Fair-share scheduling of an engine's time among tenants. Each statement is charged to its tenant, and charges decay.
 * While several tenants are active the statements of those at or below the mean preempt all others, and a tenant above
 * the mean gets half of the processors for each of its statements. A tenant that is alone is not limited.
 */
import { setTimeout as sleep } from "node:timers/promises";

export interface FairShareOptions {
  /** Threads of a statement that is not limited. */
  processors: number;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

/** Settings of a statement of ClickHouse. Statements of priority 1 pause those of priority 2, block by block. */
export interface ShareSettings {
  priority: "1" | "2";
  max_threads?: number;
  /** Nice value of its threads; ignored by an engine that lacks CAP_SYS_NICE. */
  os_thread_priority?: string;
}

interface Tenant {
  /** Charged milliseconds, decayed. */
  used: number;
  seenAt: number;
  running: number;
}

interface Statement {
  tenant: Tenant;
  isPreferred: boolean;
  /** Milliseconds that it may still run free of charge. */
  freeMs: number;
}

/**
 * Free of charge in each statement of a caller, so that many short ones do not weigh as much as a long one. Background
 * work, such as an export, consists of many short statements, and is charged for all of their time.
 */
const FREE_MS = 100;
/** Below this charge a tenant counts as below its share, whatever the others use. */
const MIN_USED_MS = 1000;
const HALF_LIFE_MS = 30_000;
/** A tenant counts as active for this long after its last work. */
const ACTIVE_MS = 10_000;
/** A tenant that was idle for this long has no history; its first statement is not preferred. */
const FORGET_MS = 600_000;
/** Nice value of threads of statements above the share, which leaves the cores to other threads of the platform. */
const LOWEST_PRIORITY = "19";
/** Longest pause of background work of a tenant above its share for preferred statements, each time. */
const YIELD_MS = 250;
/** A request is several statements: this long after one the next is expected. */
const GAP_MS = 50;
const POLL_MS = 5;

export class FairShare {
  /** See FairShareOptions. */
  processors: number;
  readonly #now: () => number;
  readonly #tenants = new Map<string, Tenant>();
  readonly #running = new Set<Statement>();
  #preferred = 0;
  #preferredAt = -Infinity;
  #at: number;

  constructor({ processors, now = () => performance.now() }: FairShareOptions) {
    this.processors = processors;
    this.#now = now;
    this.#at = now();
  }

  /** Runs a statement of a tenant with the settings of its share, and charges the tenant for its time. */
  async run<T>(tenantId: string, statement: (settings: ShareSettings) => Promise<T>, isBackground = false): Promise<T> {
    const now = this.#advance();
    const isKnown = this.#tenants.has(tenantId);
    const tenant = this.#see(tenantId, now);
    tenant.running++;
    const { isShared, isAbove } = this.#judge(tenant);
    const isPreferred = isShared && isKnown && !isAbove;
    const entry: Statement = { tenant, isPreferred, freeMs: isBackground ? 0 : FREE_MS };
    this.#running.add(entry);
    if (entry.isPreferred) this.#preferred++;
    try {
      return await statement({
        priority: entry.isPreferred ? "1" : "2",
        ...(isAbove && {
          max_threads: Math.max(1, Math.floor(this.processors / 2)),
          os_thread_priority: LOWEST_PRIORITY,
        }),
      });
    } finally {
      tenant.seenAt = this.#advance();
      tenant.running--;
      this.#running.delete(entry);
      if (entry.isPreferred) {
        this.#preferred--;
        this.#preferredAt = this.#at;
      }
    }
  }

  /** Charges a tenant for work other than its statements. */
  charge(tenantId: string, ms: number): void {
    this.#see(tenantId, this.#advance()).used += ms;
  }

  /** Whether other tenants are active and this one uses more than the mean. */
  isAboveShare(tenantId: string): boolean {
    this.#advance();
    const tenant = this.#tenants.get(tenantId);
    return tenant !== undefined && this.#judge(tenant).isAbove;
  }

  /** Resolves when no preferred statement runs or is expected, when `isOver` returns true, or after 250 ms. */
  async yieldToOthers(isOver: () => boolean): Promise<void> {
    const until = this.#now() + YIELD_MS;
    while (this.#isBusy() && !isOver() && this.#now() < until) await sleep(POLL_MS);
  }

  #isBusy(): boolean {
    return this.#preferred > 0 || this.#now() - this.#preferredAt < GAP_MS;
  }

  #judge(tenant: Tenant): { isShared: boolean; isAbove: boolean } {
    let active = 0;
    let used = 0;
    for (const item of this.#tenants.values()) {
      if (item !== tenant && item.running === 0 && this.#at - item.seenAt > ACTIVE_MS) continue;
      active++;
      used += item.used;
    }
    const isShared = active > 1;
    return { isShared, isAbove: isShared && tenant.used > Math.max(MIN_USED_MS, used / active) };
  }

  #see(tenantId: string, now: number): Tenant {
    const tenant = this.#tenants.get(tenantId) ?? { used: 0, seenAt: now, running: 0 };
    tenant.seenAt = now;
    this.#tenants.set(tenantId, tenant);
    return tenant;
  }

  /** Charges what has run since the last call; preempted statements are not charged. */
  #advance(): number {
    const now = this.#now();
    const elapsed = now - this.#at;
    if (elapsed <= 0) return now;
    this.#at = now;
    const decay = 0.5 ** (elapsed / HALF_LIFE_MS);
    for (const [id, tenant] of this.#tenants) {
      tenant.used *= decay;
      if (tenant.running === 0 && now - tenant.seenAt > FORGET_MS) this.#tenants.delete(id);
    }
    for (const statement of this.#running) {
      if (this.#preferred > 0 && !statement.isPreferred) continue;
      const free = Math.min(statement.freeMs, elapsed);
      statement.freeMs -= free;
      statement.tenant.used += elapsed - free;
    }
    return now;
  }
}
