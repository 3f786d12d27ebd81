import type { Redis } from "ioredis";

import type { Log } from "../log.ts";
import type { MemoryWindows } from "./memory-windows.ts";
import type { Bucket, TakeResult, Use, Windows } from "./windows.ts";

/**
 * Windows shared by several servers in Redis. One script checks all buckets and then takes from all or none, so it is
 * as exact as Redis is single-threaded. Time is Redis' own.
 *
 * While Redis is unavailable, slow or rejects, each server counts locally (`local`) with the same limits: n servers
 * then allow at most n times as much. No request is rejected or delayed because of it: calls in flight fall back after
 * `timeoutMs`, later ones at once, and one probe at a time, a write because a replica answers pings, detects when Redis
 * is back. The windows in Redis then continue without the local counts.
 *
 * Keys: `{heddle-limits}:<limit>:<count>/<seconds>:<holder>`. The braces place them on one node of a cluster; the quota
 * is part of the key, so that a changed one starts with empty windows.
 */
export class RedisWindows implements Windows {
  readonly #redis: Redis & Scripts;
  readonly #local: MemoryWindows;
  readonly #log: Log;
  readonly #timeoutMs: number;
  #isUnavailable = true;
  #wasEverUnavailable = false;
  #nextProbe = 0;
  #stopped = false;
  /** Takes counted locally because Redis could not. */
  fellBack = 0;

  private constructor(redis: Redis & Scripts, local: MemoryWindows, log: Log, timeoutMs: number) {
    this.#redis = redis;
    this.#local = local;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when Redis is connected, or after half a second without it. Throws for an invalid address. */
  static async connect(uri: string, local: MemoryWindows, log: Log, timeoutMs = 250): Promise<RedisWindows> {
    if (!/^rediss?:\/\//.test(uri)) throw new Error("REDIS_URI must begin with redis:// or rediss://");
    const { Redis } = await import("ioredis");
    const redis = new Redis(uri, {
      commandTimeout: timeoutMs,
      connectTimeout: 2000,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(100 * times, 1000),
      connectionName: "heddle-limits",
    });
    redis.defineCommand("heddleTake", { lua: TAKE });
    redis.defineCommand("heddleGiveBack", { numberOfKeys: 1, lua: GIVE_BACK });
    redis.defineCommand("heddleRead", { lua: READ });
    const windows = new RedisWindows(redis as Redis & Scripts, local, log, timeoutMs);
    redis.on("error", (error: Error) => windows.#lost(error));
    redis.on("close", () => windows.#lost(new Error("the connection was closed")));
    const reached = new Promise<void>((resolve) => {
      redis.on("ready", () => void windows.#probe().then(resolve));
    });
    let timer: NodeJS.Timeout;
    await Promise.race([reached, new Promise<void>((resolve) => (timer = setTimeout(resolve, 500)))]);
    clearTimeout(timer!);
    if (windows.#isUnavailable) windows.#lost(new Error("no answer"));
    return windows;
  }

  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  async take(buckets: Bucket[]): Promise<TakeResult> {
    const quotas = buckets.flatMap(({ limit }) => [limit.count, limit.seconds * 1000]);
    const reply = await this.#ask(() => this.#redis.heddleTake(buckets.length, ...bucketKeys(buckets), ...quotas));
    if (!reply) return this.#local.take(buckets);
    return { allowed: reply[0] === 1, uses: decodeUses(buckets, reply.slice(1)) };
  }

  async giveBack(bucket: Bucket): Promise<void> {
    const reply = await this.#ask(() => this.#redis.heddleGiveBack(bucketKey(bucket)));
    if (reply === undefined) this.#local.giveBack(bucket);
  }

  async read(buckets: Bucket[]): Promise<Use[]> {
    const reply = await this.#ask(() => this.#redis.heddleRead(buckets.length, ...bucketKeys(buckets)));
    return reply ? decodeUses(buckets, reply) : this.#local.read(buckets);
  }

  stop(): void {
    this.#stopped = true;
    this.#redis.disconnect();
  }

  async #ask<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (this.#isUnavailable) {
      if (performance.now() >= this.#nextProbe && this.#redis.status === "ready") void this.#probe();
    } else {
      try {
        return await command();
      } catch (error) {
        this.#lost(error as Error);
      }
    }
    this.fellBack++;
    return undefined;
  }

  async #probe(): Promise<void> {
    this.#nextProbe = performance.now() + this.#timeoutMs + PROBE_EVERY_MS;
    try {
      await this.#redis.set("{heddle-limits}:probe", "1", "PX", 1000);
      this.#found();
    } catch (error) {
      this.#lost(error as Error);
    }
  }

  #lost(error: Error): void {
    if (this.#stopped || (this.#isUnavailable && this.#wasEverUnavailable)) return;
    this.#isUnavailable = true;
    this.#wasEverUnavailable = true;
    this.#nextProbe = performance.now() + PROBE_EVERY_MS;
    this.#log.warn({ err: error }, "Redis is unavailable: each server counts rate limits on its own");
  }

  #found(): void {
    if (!this.#isUnavailable || this.#stopped) return;
    this.#isUnavailable = false;
    if (this.#wasEverUnavailable) this.#log.warn("Redis is available again: servers share rate limits");
  }
}

interface Scripts {
  heddleTake(count: number, ...args: (string | number)[]): Promise<number[]>;
  heddleRead(count: number, ...args: string[]): Promise<number[]>;
  heddleGiveBack(key: string): Promise<number>;
}

/** Minimum interval between probes while Redis is unavailable. */
const PROBE_EVERY_MS = 500;

/** KEYS: buckets. ARGV: count and window in ms of each. Returns 1 or 0, then used and ms to the end of each. */
const TAKE = `
local used, left, allowed = {}, {}, 1
for i = 1, #KEYS do
  used[i] = tonumber(redis.call('GET', KEYS[i]) or '0')
  left[i] = redis.call('PTTL', KEYS[i])
  if used[i] >= tonumber(ARGV[2 * i - 1]) then allowed = 0 end
end
local reply = { allowed }
for i = 1, #KEYS do
  local window = tonumber(ARGV[2 * i])
  if allowed == 1 then
    used[i] = redis.call('INCR', KEYS[i])
    if left[i] < 0 then redis.call('PEXPIRE', KEYS[i], window) end
  end
  if left[i] < 0 then left[i] = window end
  reply[2 * i] = used[i]
  reply[2 * i + 1] = left[i]
end
return reply`;

const GIVE_BACK = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used > 0 then return redis.call('DECR', KEYS[1]) end
return 0`;

const READ = `
local reply = {}
for i = 1, #KEYS do
  reply[2 * i - 1] = tonumber(redis.call('GET', KEYS[i]) or '0')
  reply[2 * i] = redis.call('PTTL', KEYS[i])
end
return reply`;

const bucketKey = ({ limit, holder }: Bucket): string =>
  `{heddle-limits}:${limit.name}:${limit.count}/${limit.seconds}:${holder}`;

const bucketKeys = (buckets: Bucket[]): string[] => buckets.map(bucketKey);

/** Decodes a reply. A negative time to live means that there is no window. */
function decodeUses(buckets: Bucket[], reply: number[]): Use[] {
  return buckets.map(({ limit }, index) => {
    const left = reply[2 * index + 1]!;
    return { limit, used: reply[2 * index]!, resetMs: left < 0 ? limit.seconds * 1000 : left };
  });
}
