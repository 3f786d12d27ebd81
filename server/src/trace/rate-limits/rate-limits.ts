/** Rate limits of a server: identifies callers, counts requests, and reports rejections. */
import { performance } from "node:perf_hooks";

import type { Authenticator } from "../../base/auth/principal.ts";
import { toNetwork } from "../../base/http/client-ip.ts";
import type { Log } from "../../base/log.ts";
import { MemoryWindows } from "../../base/rate-limits/memory-windows.ts";
import { RedisWindows } from "../../base/rate-limits/redis-windows.ts";
import type { Bucket, TakeResult, Windows } from "../../base/rate-limits/windows.ts";
import { Callers, keyBucket, userBucket, callerUser } from "./callers.ts";
import { canonicalPath, type CanonicalPath } from "./canonical-path.ts";
import { type ActiveRow, type ActiveTable, chooseRows, findAddressRow, rulesFor } from "./choose-rows.ts";
import { type Mode, readConfiguration } from "./read-configuration.ts";
import type { RateLimitSettings } from "./settings.ts";
import type { Identity } from "./table.ts";

export interface RateLimitOptions {
  settings: RateLimitSettings;
  log: Log;
  /** Whether only this machine can reach the server, without a proxy. Determines the meaning of `auto`. */
  isDevelopment: boolean;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Request data available before authentication. */
export interface Arrival {
  method: string;
  /** Path as seen by the router. */
  path: string;
  headers: Headers;
  ip: string;
}

/** `rows` is empty when no limit applies. */
export interface Decision extends TakeResult {
  path: CanonicalPath;
  rows: ActiveRow[];
}

export class RateLimits {
  readonly mode: Mode;
  readonly table: ActiveTable;
  readonly problems: readonly string[];
  readonly local: MemoryWindows;
  readonly windows: Windows;
  /** Counts by row, since the start. */
  readonly allowed: Map<string, number>;
  readonly rejected: Map<string, number>;
  readonly #callers: Callers;

  private constructor(options: RateLimitOptions, configured: ReturnType<typeof readConfiguration>, parts: Parts) {
    this.mode = configured.mode;
    this.table = configured.table;
    this.problems = configured.problems;
    this.local = parts.local;
    this.windows = parts.windows;
    this.allowed = new Map(this.table.all.map(({ name }) => [name, 0]));
    this.rejected = new Map(this.allowed);
    this.#callers = new Callers(options.settings.rateLimitsMaxBuckets, options.now ?? (() => performance.now()));
  }

  static async start(options: RateLimitOptions): Promise<RateLimits> {
    const { settings, log, isDevelopment, now } = options;
    const configured = readConfiguration(settings, isDevelopment, log);
    const local = new MemoryWindows({ maxBuckets: settings.rateLimitsMaxBuckets, now });
    let windows: Windows = local;
    if (configured.mode !== "off" && settings.redisUri !== "") {
      try {
        windows = await RedisWindows.connect(settings.redisUri, local, log);
      } catch (error) {
        configured.problems.push(`REDIS_URI: ${(error as Error).message}`);
        log.error({ err: error }, "rate limits: REDIS_URI is invalid; this server counts on its own");
      }
    }
    return new RateLimits(options, configured, { local, windows });
  }

  async stop(): Promise<void> {
    await this.windows.stop();
    this.local.stop();
  }

  /** Counts a request if the limits allow it. */
  async decide(arrival: Arrival, authenticator: Authenticator): Promise<Decision> {
    const { method, headers } = arrival;
    const path = canonicalPath(arrival.path);
    const matching = rulesFor(this.table, method, path);
    const address = toNetwork(arrival.ip);
    const addressRow = findAddressRow(matching);
    if (addressRow) return this.#take(path, [addressRow], [{ limit: addressRow, holder: address }]);

    const publicRows = chooseRows(this.table, matching, { key: false, user: false });
    const anonymousBuckets = publicRows.map((limit) => ({ limit, holder: address }));
    let spending: Decision | undefined;
    const identified = await this.#callers.identify(headers, {
      authenticator,
      method,
      ip: arrival.ip,
      spend: async () =>
        (spending = await this.#take(path, publicRows, anonymousBuckets)).allowed || this.mode === "dry-run",
      refund: async () => {
        for (const bucket of anonymousBuckets) if (spending!.allowed) await this.windows.giveBack(bucket);
        for (const { name } of publicRows) this.#count(spending!.allowed, name, -1);
      },
    });
    if (identified === "rejected" || identified.spent) return spending!;
    if (!identified.caller) return this.#take(path, publicRows, anonymousBuckets);

    const userName = callerUser(identified.caller, headers);
    const user = userName === undefined ? null : userBucket(userName, address);
    const rows = chooseRows(this.table, matching, { key: identified.caller.key !== null, user: user !== null });
    const holders = { ip: address, key: identified.caller.key!, user: user! };
    return this.#take(
      path,
      rows,
      rows.map((limit) => ({ limit, holder: holders[limit.row.identity] })),
    );
  }

  async #take(path: CanonicalPath, rows: ActiveRow[], buckets: Bucket[]): Promise<Decision> {
    if (buckets.length === 0) return { path, rows, allowed: true, uses: [] };
    const { allowed, uses } = await this.windows.take(buckets);
    for (const { limit, used } of uses) if (allowed || used >= limit.count) this.#count(allowed, limit.name, 1);
    return { path, rows, allowed, uses };
  }

  /** Returns every row with its quota, and the requests allowed and rejected since this server started. */
  report(): RowReport[] {
    return this.table.all.map(({ name, row, count, seconds }) => {
      const { category, identity } = row;
      const counts = { allowed: this.allowed.get(name) ?? 0, rejected: this.rejected.get(name) ?? 0 };
      return { row: name, category, identity, count, seconds, ...counts };
    });
  }

  /**
   * Returns the current use of every row by an address, key and user. `key` is the key itself, of which only a digest
   * is used.
   */
  async readUses(holders: { ip: string; key?: string; user?: string }): Promise<RowUse[]> {
    const address = toNetwork(holders.ip);
    const byIdentity = {
      ip: address,
      key: holders.key === undefined ? null : keyBucket(holders.key),
      user: holders.user === undefined ? null : userBucket(holders.user, address),
    };
    const buckets = this.table.all.flatMap((limit) => {
      const holder = byIdentity[limit.row.identity];
      return holder === null ? [] : [{ limit, holder }];
    });
    const uses = await this.windows.read(buckets);
    return uses.map(({ limit, used, resetMs }) => ({
      row: limit.name,
      limit: limit.count,
      used,
      remaining: Math.max(0, limit.count - used),
      reset_seconds: Math.ceil(resetMs / 1000),
    }));
  }

  #count(allowed: boolean, row: string, amount: number): void {
    const counts = allowed ? this.allowed : this.rejected;
    counts.set(row, (counts.get(row) ?? 0) + amount);
  }
}

export interface RowReport {
  row: string;
  category: string;
  identity: Identity;
  count: number;
  seconds: number;
  allowed: number;
  rejected: number;
}

export interface RowUse {
  row: string;
  limit: number;
  used: number;
  remaining: number;
  reset_seconds: number;
}

interface Parts {
  local: MemoryWindows;
  windows: Windows;
}
