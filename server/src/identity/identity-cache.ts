/**
 * What was found out about keys and sessions, kept in memory so that a request costs no query, and yet forgotten
 * within a second of a change anywhere:
 *
 * - every change counts up `identity_version` in its own transaction and is announced on `heddle_identity`, both
 *   by triggers; whoever hears the announcement forgets everything at once (changes are rare, keys are few);
 * - what is in memory counts only while the version was seen unchanged less than MAX_AGE_MS ago. Requests ask for
 *   it in the background when it is older than REFRESH_MS, so a busy server pays two tiny statements a second and
 *   an idle one none. That holds also when the listening connection is dead without anybody having noticed;
 * - without a database nothing can be confirmed, and requests fail with 503 instead of trusting old knowledge.
 *
 * What is known and what is known to be nothing are kept apart, so that a flood of made-up keys drives out only
 * each other.
 */
import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import type { Grant } from "./grant.ts";

export const MAX_AGE_MS = 800;
const REFRESH_MS = 350;
/** Entries of each kind, a few hundred bytes each. */
const CAPACITY = 10_000;

/** `unknown`: nobody's. `revoked`: was somebody's. */
export type Verdict = Grant | "unknown" | "revoked";

/** What a look-up found, and the `identity_version` of the snapshot it read, or of an earlier one. */
export interface Finding {
  verdict: Verdict;
  version: string;
}

/** Where keys are known: the database, or another server. */
export interface IdentitySource {
  version(): Promise<string>;
  /** `onSeen`: the version, and when the look at it began. */
  listen(
    onChange: () => void,
    onSeen: (version: string, began: number) => void,
  ): Promise<{ unlisten(): Promise<void> }>;
}

/** How old the last sight of the version may be, and when it is looked for again. Milliseconds. */
interface Ages {
  maxMs: number;
  refreshMs: number;
}

const DATABASE_AGES: Ages = { maxMs: MAX_AGE_MS, refreshMs: REFRESH_MS };

export const databaseSource = (sql: Sql): IdentitySource => ({
  version: () => selectIdentityVersion(sql),
  // on every new connection too: what was announced meanwhile is lost
  listen: (onChange) => sql.listen("heddle_identity", onChange, onChange),
});

export class IdentityCache {
  readonly #source: IdentitySource;
  readonly #ages: Ages;
  readonly #failure: RepeatedFailure;
  /** Told of every announcement. */
  readonly #onChange: () => void;
  readonly #known = new Generations<Grant>(CAPACITY);
  readonly #refused = new Generations<"unknown" | "revoked">(CAPACITY);
  readonly #loading = new Map<string, Promise<Verdict>>();
  #confirming: Promise<void> | undefined;
  #version: string | undefined;
  /** When a query began that found `#version`. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** Counts how often everything was forgotten. */
  #era = 0;
  #listening: { unlisten(): Promise<void> } | undefined;

  constructor(source: IdentitySource, log: Log, onChange: () => void, ages: Ages = DATABASE_AGES) {
    this.#source = source;
    this.#ages = ages;
    this.#failure = new RepeatedFailure({ log, message: "the identity version cannot be read" });
    this.#onChange = onChange;
  }

  async start(): Promise<void> {
    const forget = () => {
      this.forget();
      this.#onChange();
    };
    this.#listening = await this.#source.listen(forget, (version, began) => this.#see(version, began));
  }

  async stop(): Promise<void> {
    await this.#listening?.unlisten();
  }

  /** What is known for certain, without waiting. */
  get(key: string): Verdict | undefined {
    const age = performance.now() - this.#confirmedAt;
    if (age > this.#ages.refreshMs && this.#version !== undefined) void this.#confirm().catch(() => {});
    return age > this.#ages.maxMs ? undefined : this.#peek(key);
  }

  /** What is known, or what `look` finds; one look a key at a time. */
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
    this.#refused.clear();
    // whoever asks from now on must not be given what a look that began earlier will find
    this.#loading.clear();
  }

  async #load(key: string, look: () => Promise<Finding>): Promise<Verdict> {
    if (this.#peek(key) !== undefined) {
      await this.#confirm();
      // that one may have begun long before this request; a second one has not
      if (performance.now() - this.#confirmedAt > this.#ages.maxMs) await this.#confirm();
      const known = this.#peek(key);
      if (known !== undefined) return known;
    }
    const era = this.#era;
    const began = performance.now();
    const { verdict, version } = await look();
    // when something changed meanwhile, it answers this request and is not kept
    if (era === this.#era) {
      this.#see(version, began);
      if (typeof verdict === "string") this.#refused.set(key, verdict);
      else this.#known.set(key, verdict);
    }
    return verdict;
  }

  #peek(key: string): Verdict | undefined {
    const grant = this.#known.get(key);
    if (!grant) return this.#refused.get(key);
    return grant.askAgainAt === undefined || grant.askAgainAt > performance.now() ? grant : undefined;
  }

  #confirm(): Promise<void> {
    this.#confirming ??= this.#askVersion().finally(() => (this.#confirming = undefined));
    return this.#confirming;
  }

  async #askVersion(): Promise<void> {
    const began = performance.now();
    try {
      this.#see(await this.#source.version(), began);
      this.#failure.succeeded();
    } catch (error) {
      this.#failure.failed(error);
      throw error;
    }
  }

  /** Any difference counts, also a lower number: somebody may have restored a backup. */
  #see(version: string, began: number): void {
    if (version === this.#version) {
      this.#confirmedAt = Math.max(this.#confirmedAt, began);
      return;
    }
    this.forget();
    this.#version = version;
    this.#confirmedAt = began;
  }
}

export async function selectIdentityVersion(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select version from identity_version`;
  return row!.version;
}

/** A bounded map that drops what was not asked for in a while: two generations, the elder goes as a whole. */
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
