/**
 * In-memory cache of resolved keys and sessions. Requests need no query, and a change anywhere takes effect within a
 * second:
 *
 * - Triggers increment `identity_version` in the transaction of every change and announce it on `heddle_identity`.
 *   Listeners clear the whole cache at once (changes are rare, keys are few).
 * - Cached entries count only while the version was confirmed less than MAX_AGE_MS ago. Requests refresh it in the
 *   background once it is older than REFRESH_MS: a busy server runs two tiny statements a second, an idle server none.
 *   This also covers a listening connection that died unnoticed.
 * - Without a database nothing can be confirmed, and requests fail with 503 instead of using stale entries.
 *
 * Known and rejected credentials are kept in separate maps, so that a flood of made-up keys evicts only its own kind.
 */
import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import type { Grant } from "./grant.ts";

export const MAX_AGE_MS = 800;
const REFRESH_MS = 350;
/** Entries per map, a few hundred bytes each. */
const CAPACITY = 10_000;

/** `unknown`: no such key. `revoked`: the key existed and was revoked. */
export type Verdict = Grant | "unknown" | "revoked";

/** Result of a lookup, and the `identity_version` of the snapshot it read or of an earlier one. */
export interface Finding {
  verdict: Verdict;
  version: string;
}

/** Authority on keys: the database or another server. */
export interface IdentitySource {
  version(): Promise<string>;
  /** `onSeen` receives the version and the time when reading it began. */
  listen(
    onChange: () => void,
    onSeen: (version: string, startedAt: number) => void,
  ): Promise<{ unlisten(): Promise<void> }>;
}

/** Maximum age of the last confirmed version, and the age at which it is refreshed. Milliseconds. */
interface Ages {
  maxMs: number;
  refreshMs: number;
}

const DATABASE_AGES: Ages = { maxMs: MAX_AGE_MS, refreshMs: REFRESH_MS };

export const databaseSource = (sql: Sql): IdentitySource => ({
  version: () => selectIdentityVersion(sql),
  // also fires on every reconnect: announcements in between are lost
  listen: (onChange) => sql.listen("heddle_identity", onChange, onChange),
});

export class IdentityCache {
  readonly #source: IdentitySource;
  readonly #ages: Ages;
  readonly #failure: RepeatedFailure;
  /** Called on every announcement. */
  readonly #onChange: () => void;
  readonly #known = new Generations<Grant>(CAPACITY);
  readonly #rejected = new Generations<"unknown" | "revoked">(CAPACITY);
  readonly #loading = new Map<string, Promise<Verdict>>();
  #confirming: Promise<void> | undefined;
  #version: string | undefined;
  /** Start time of the latest query that returned `#version`. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** Number of times the cache was cleared. */
  #era = 0;
  #listening: { unlisten(): Promise<void> } | undefined;

  constructor(source: IdentitySource, log: Log, onChange: () => void, ages: Ages = DATABASE_AGES) {
    this.#source = source;
    this.#ages = ages;
    this.#failure = new RepeatedFailure({ log, message: "could not read the identity version" });
    this.#onChange = onChange;
  }

  async start(): Promise<void> {
    const forget = () => {
      this.forget();
      this.#onChange();
    };
    this.#listening = await this.#source.listen(forget, (version, startedAt) => this.#see(version, startedAt));
  }

  async stop(): Promise<void> {
    await this.#listening?.unlisten();
  }

  /** Returns a confirmed entry without waiting, or undefined. */
  get(key: string): Verdict | undefined {
    const age = performance.now() - this.#confirmedAt;
    if (age > this.#ages.refreshMs && this.#version !== undefined) void this.#confirm().catch(() => {});
    return age > this.#ages.maxMs ? undefined : this.#peek(key);
  }

  /** Returns the cached verdict or the result of `look`. Runs one lookup per key at a time. */
  load(key: string, look: () => Promise<Finding>): Promise<Verdict> {
    const running = this.#loading.get(key);
    if (running) return running;
    const loading: Promise<Verdict> = this.#load(key, look).finally(() => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key);
    });
    this.#loading.set(key, loading);
    return loading;
  }

  forget(): void {
    this.#era += 1;
    this.#known.clear();
    this.#rejected.clear();
    // later callers must not share the result of a lookup that began before the change
    this.#loading.clear();
  }

  async #load(key: string, look: () => Promise<Finding>): Promise<Verdict> {
    if (this.#peek(key) !== undefined) {
      await this.#confirm();
      // this may have joined a check that began long before this request; a second one has not
      if (performance.now() - this.#confirmedAt > this.#ages.maxMs) await this.#confirm();
      const known = this.#peek(key);
      if (known !== undefined) return known;
    }
    const era = this.#era;
    const startedAt = performance.now();
    const { verdict, version } = await look();
    // after a concurrent change the result answers this request but is not cached
    if (era === this.#era) {
      this.#see(version, startedAt);
      if (typeof verdict === "string") this.#rejected.set(key, verdict);
      else this.#known.set(key, verdict);
    }
    return verdict;
  }

  #peek(key: string): Verdict | undefined {
    const grant = this.#known.get(key);
    if (!grant) return this.#rejected.get(key);
    return grant.askAgainAt === undefined || grant.askAgainAt > performance.now() ? grant : undefined;
  }

  #confirm(): Promise<void> {
    this.#confirming ??= this.#askVersion().finally(() => (this.#confirming = undefined));
    return this.#confirming;
  }

  async #askVersion(): Promise<void> {
    const startedAt = performance.now();
    try {
      this.#see(await this.#source.version(), startedAt);
      this.#failure.succeeded();
    } catch (error) {
      this.#failure.failed(error);
      throw error;
    }
  }

  /** Any difference counts, even a lower number: a backup may have been restored. */
  #see(version: string, startedAt: number): void {
    if (version === this.#version) {
      this.#confirmedAt = Math.max(this.#confirmedAt, startedAt);
      return;
    }
    this.forget();
    this.#version = version;
    this.#confirmedAt = startedAt;
  }
}

export async function selectIdentityVersion(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select version from identity_version`;
  return row!.version;
}

/**
 * Bounded map that evicts entries not read for a while. It keeps two generations and drops the older one as a whole.
 */
class Generations<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(capacity: number) {
    this.#half = capacity / 2;
  }

  get(key: string): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
