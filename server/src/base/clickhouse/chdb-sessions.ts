import type { Session } from "chdb";

import { AppError } from "../errors.ts";
import { acquireFileLock, type FileLock, LockedError } from "../db/file-lock.ts";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { deferred } from "../deferred.ts";

/** Reason why chDB did not start, readable for the operator. */
export class ChdbError extends Error {
  override name = "ChdbError";
}

type ChdbModule = typeof import("chdb");

export interface ChdbOptions {
  /** Directory of the engine's files, created if missing. One process at a time. */
  directory: string;
  /** Concurrent statements; reads get all but one of them, so that a write never waits for a slow query. */
  connections: number;
  /** Database of each session, created if missing. */
  database: string;
  /** Settings of each session. */
  settings: Record<string, string | number>;
  /** Memory limit of the engine, in bytes. */
  maxMemory: number;
  /** Called while waiting for another process that holds the directory. */
  onWait?: ((message: string) => void) | undefined;
  /** Time to wait for a process in another container, which may be draining. 30,000 by default. */
  elsewhereWaitMs?: number | undefined;
}

const ELSEWHERE_WAIT_MS = 30_000;

/**
 * Pool of sessions on one chDB directory, each lent to one statement at a time: a session is a connection with its own
 * settings and parameters, and runs its statements one after another.
 *
 * chDB cannot be interrupted, so a statement occupies a thread of libuv's pool until it is done. The pool is therefore
 * small, and a process that does other work as well should start with UV_THREADPOOL_SIZE above 4.
 */
export class ChdbSessions {
  readonly #options: ChdbOptions;
  readonly #open: () => Session;
  readonly #module: ChdbModule;
  readonly #idle: Session[] = [];
  readonly #all = new Set<Session>();
  readonly #waiting = { write: [] as ((session: Session) => void)[], read: [] as ((session: Session) => void)[] };
  #reading = 0;
  #closed = false;
  readonly #lock: FileLock;

  private constructor(module: ChdbModule, options: ChdbOptions, lock: FileLock) {
    this.#module = module;
    this.#options = options;
    this.#lock = lock;
    this.#open = () => openSession(module, options);
  }

  /** `lock`: the directory's, if the caller has acquired it; stays with the caller when this fails. */
  static async open(options: ChdbOptions, acquired?: FileLock): Promise<ChdbSessions> {
    const module = await loadChdb();
    const lock = acquired ?? (await lockChdb(options));
    try {
      const sessions = new ChdbSessions(module, options, lock);
      const first = sessions.#open();
      sessions.#all.add(first);
      sessions.#idle.push(first);
      return sessions;
    } catch (error) {
      if (!acquired) lock.release();
      throw new ChdbError(`chDB could not open ${options.directory}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Lends a session for exclusive use until `work` is done. */
  async use<T>(kind: "read" | "write", work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed) throw new AppError(503, "The trace store is shutting down.", { headers: { "Retry-After": "1" } });
    const session = await this.#acquire(kind);
    try {
      return await work(session);
    } finally {
      if (kind === "read") this.#reading--;
      this.#idle.push(session);
      this.#serve();
    }
  }

  /** Resolves when all statements have ended and the directory is free for another process. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#module.drainPending();
    for (const session of this.#all) session.close();
    await this.#module.drainPending();
    this.#lock.release();
  }

  #acquire(kind: "read" | "write"): Promise<Session> {
    const { promise, resolve } = deferred<Session>();
    this.#waiting[kind].push(resolve);
    this.#serve();
    return promise;
  }

  #serve(): void {
    for (;;) {
      const maxReads = Math.max(1, this.#options.connections - 1);
      const kind = this.#waiting.write.length > 0 ? "write" : "read";
      if (this.#waiting[kind].length === 0 || (kind === "read" && this.#reading >= maxReads)) return;
      const session = this.#idle.pop() ?? this.#another();
      if (!session) return;
      if (kind === "read") this.#reading++;
      this.#waiting[kind].shift()!(session);
    }
  }

  #another(): Session | undefined {
    if (this.#all.size >= this.#options.connections) return undefined;
    const session = this.#open();
    this.#all.add(session);
    return session;
  }
}

function openSession(module: ChdbModule, { directory, database, settings, maxMemory }: ChdbOptions): Session {
  const mebibytes = (n: number) => String(n * 1024 * 1024);
  const session = new module.Session(directory, {
    connectionArgs: [
      `--max_server_memory_usage=${maxMemory}`,
      // caches hold 5 GB each by default, which suits dedicated machines only
      `--mark_cache_size=${mebibytes(64)}`,
      `--index_mark_cache_size=${mebibytes(32)}`,
      `--primary_index_cache_size=${mebibytes(64)}`,
      `--query_condition_cache_size=${mebibytes(16)}`,
      // two concurrent merges instead of four: each may take some hundred megabytes
      "--background_merges_mutations_concurrency_ratio=1",
    ],
  });
  const name = `\`${database.replaceAll("`", "")}\``;
  session.query(`create database if not exists ${name}`);
  session.query(`use ${name}`);
  for (const [key, value] of Object.entries(settings)) {
    session.query(`set ${key} = ${typeof value === "number" ? value : `'${value}'`}`);
  }
  return session;
}

async function loadChdb(): Promise<ChdbModule> {
  try {
    return await import("chdb");
  } catch (error) {
    throw new ChdbError(
      "Could not load chDB, the built-in ClickHouse. Install it beside Heddle (npm install -g chdb@3.4.0, or without " +
        "-g where Heddle is a package of a project; npm has builds for " +
        "Linux on x64 with glibc, and for some versions for Linux on arm64 and macOS), or set CLICKHOUSE_URL to a " +
        `ClickHouse server. (${(error as Error).message.split("\n")[0]})`,
      { cause: error },
    );
  }
}

/** Throws when chDB is not installed for this platform. Does not load it, which takes 200 MB. */
export async function checkChdb(): Promise<void> {
  const { platform, arch } = process;
  const binaries = `@chdb/lib-${platform}-${arch}${platform === "linux" ? "-gnu" : ""}`;
  try {
    createRequire(createRequire(import.meta.url).resolve("chdb")).resolve(binaries);
  } catch {
    // it may be built here, or the error names the reason
    await loadChdb();
  }
}

/**
 * Creates the directory if missing, and locks it: two engines on it would destroy it, and chDB does not reject the
 * second.
 */
export async function lockChdb(
  options: Pick<ChdbOptions, "directory" | "onWait" | "elsewhereWaitMs">,
): Promise<FileLock> {
  const { directory, onWait, elsewhereWaitMs } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = `${dirname(`${directory}/x`)}.lock`;
  try {
    return await acquireFileLock(path, {
      waitMs: 2_000,
      elsewhereWaitMs: elsewhereWaitMs ?? ELSEWHERE_WAIT_MS,
      onWait: (holder) => onWait?.(`the trace store in ${directory} is in use by ${holder}; waiting for it to exit`),
    });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new ChdbError(
      `The trace store in ${directory} is in use: ${error.message}. ` +
        "Only one process can open a chDB store: stop the other one, set another HEDDLE_DATA_DIR, or set CLICKHOUSE_URL.",
    );
  }
}
