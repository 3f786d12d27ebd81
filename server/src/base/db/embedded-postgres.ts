import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { clusterOwner, ownerProblem, type OsUser } from "./cluster-owner.ts";
import { isLocked, withFileLock } from "./file-lock.ts";
import { initCluster } from "./init-cluster.ts";
import { findPostgresBinaries, type PostgresBinaries } from "./postgres-binaries.ts";
import { spawnGuardian } from "./postgres-guardian.ts";
import { clusterLock, liveUsers, type Registration, registerWhenFree, unregisterUser } from "./postgres-users.ts";
import { endPostmaster, findPostmaster, shutDown, waitUntilGone, type Postmaster } from "./postmaster.ts";
import { isProcessAlive, type ProcessIdentity } from "./process-identity.ts";
import { spawnPostmaster } from "./spawn-postmaster.ts";

/**
 * Manages the embedded Postgres in `<dataDir>/postgres`:
 *
 *     data/          the cluster (PGDATA), owned by the user that Postgres runs as
 *     password       of the database user "heddle", readable by its owner alone
 *     port           the port used last, kept so that addresses survive a restart
 *     postgres.log
 *     users/         a locked file for each process that uses it
 *     lock           held while a process starts or stops it
 *     cluster.lock   held by Postgres
 *     guardian.lock  held by the guardian (postgres-guardian.ts)
 *     wanted.lock    held by a process that waits for another container
 *
 * Postgres outlives a killed server, and the next start adopts it; without a next start, its guardian ends it. Several
 * servers of one container, or of a machine without containers, may share it; the last one to stop shuts it down. A
 * server of another container waits until all of them have ended, and does not start when that takes too long.
 * Startup proceeds through
 *
 *     nothing --initdb--> cluster --spawn--> starting --(crash recovery)--> ready
 *
 * and begins at the state it finds. As root, Postgres runs as another user, who often cannot reach the data directory
 * (/root, a private temporary directory). Postgres is therefore spawned with the cluster as its working directory and
 * finds it at /proc/self/cwd.
 */
export interface EmbeddedPostgresOptions {
  dataDir: string;
  /** Receives messages about slow steps and failures. */
  log?: (message: string) => void;
  /** Postgres settings on top of ours. */
  settings?: Record<string, string>;
  /** Time for which Postgres outlives its last server, when that was killed. 300 by default. */
  lingerSeconds?: number;
  /** Time to wait for the servers of another container. 30,000 by default. */
  elsewhereWaitMs?: number;
}

export interface PostgresAddress {
  /** URL over loopback TCP, with the password. */
  uri: string;
  /**
   * Directory of the Unix socket, which is a fifth faster than TCP: `postgres(uri, { host: socket })`. Null when the
   * path is longer than the system permits.
   */
  socket: string | null;
}

const USER = "heddle";
const DATABASE = "heddle";
const LOCK_TIMEOUT_MS = 120_000;
const ELSEWHERE_WAIT_MS = 30_000;
const LINGER_SECONDS = 300;
/** sockaddr_un holds 104 bytes on macOS and 108 on Linux. */
const LONGEST_SOCKET_PATH = 100;

/** Transient failures: leftovers of a killed Postgres, another process on the port. */
const TRANSIENT = /pre-existing shared memory block|lock file .* already exists|could not create any TCP\/IP sockets/;

/** A failure that a retry cannot fix. */
class StartError extends Error {}

export class EmbeddedPostgres {
  #dir: string;
  #cluster: string;
  #log: (message: string) => void;
  #settings: Record<string, string>;
  #lingerSeconds: number;
  #elsewhereWaitMs: number;
  #registration: Registration | null = null;
  #running: { postmaster: ProcessIdentity; address: PostgresAddress } | null = null;
  #starting: Promise<PostgresAddress> | null = null;

  constructor(options: EmbeddedPostgresOptions) {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    this.#dir = join(realpathSync(options.dataDir), "postgres");
    this.#cluster = join(this.#dir, "data");
    this.#log = options.log ?? (() => {});
    this.#settings = options.settings ?? {};
    this.#lingerSeconds = options.lingerSeconds ?? LINGER_SECONDS;
    this.#elsewhereWaitMs = options.elsewhereWaitMs ?? ELSEWHERE_WAIT_MS;
  }

  /** Starts or adopts Postgres and registers this process as its user. */
  async start(): Promise<PostgresAddress> {
    mkdirSync(join(this.#dir, "users"), { recursive: true, mode: 0o700 });
    this.#registration ??= await registerWhenFree(this.#dir, this.#elsewhereWaitMs, this.#log, (work) =>
      this.#locked(work),
    );
    try {
      return await this.ensureRunning();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Takes microseconds while Postgres is alive; restarts it after a crash. Only between start and stop. */
  async ensureRunning(): Promise<PostgresAddress> {
    if (!this.#registration) throw new Error("the embedded Postgres has not been started");
    if (this.#running && isProcessAlive(this.#running.postmaster)) return this.#running.address;
    this.#starting ??= this.#locked(() => this.#startOrAdopt()).finally(() => (this.#starting = null));
    return this.#starting;
  }

  /** Stops Postgres unless another live process uses it. */
  async stop(): Promise<void> {
    if (!this.#registration) return;
    await this.#starting?.catch(() => {});
    if (!existsSync(this.#registration.path)) {
      // The data directory was removed: only the process is left to end.
      this.#registration.lock.release();
      this.#registration = null;
      if (this.#running) await endPostmaster(this.#running.postmaster);
      return;
    }
    await this.#locked(async () => {
      if (!this.#registration) return;
      unregisterUser(this.#registration);
      this.#registration = null;
      this.#running = null;
      if ((await liveUsers(this.#dir)).length === 0) await shutDown(this.#cluster);
    });
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(join(this.#dir, "lock"), { waitMs: LOCK_TIMEOUT_MS }, work);
  }

  async #startOrAdopt(): Promise<PostgresAddress> {
    const owner = clusterOwner(this.#cluster);
    const binaries = findPostgresBinaries(owner);
    if (!existsSync(join(this.#cluster, "PG_VERSION"))) await initCluster(this.#dir, USER, binaries, owner);
    this.#checkVersion(binaries);
    const problem = ownerProblem(this.#cluster, owner);
    if (problem !== undefined) throw new StartError(problem);
    for (let attempt = 1; ; attempt++) {
      try {
        const postmaster = await this.#readyPostmaster(binaries, owner);
        const address = this.#address(postmaster.port);
        await this.#connectOnce(address, postmaster);
        this.#running = { postmaster, address };
        return address;
      } catch (error) {
        if (attempt === 5 || error instanceof StartError) throw error;
        this.#log(`embedded Postgres, attempt ${attempt}: ${(error as Error).message}`);
        await sleep(200 * attempt);
      }
    }
  }

  #checkVersion(binaries: PostgresBinaries): void {
    const found = readFileSync(join(this.#cluster, "PG_VERSION"), "utf8").trim();
    if (found === String(binaries.major)) return;
    throw new Error(
      `${this.#cluster} was created by Postgres ${found}, but the embedded Postgres is version ` +
        `${binaries.major}. Migrate the data with pg_dump of version ${found}, use another data directory, or set ` +
        "DATABASE_URI.",
    );
  }

  /** Returns the running Postgres, or a new one, once it reports that it is ready. Recovery may take long. */
  async #readyPostmaster(binaries: PostgresBinaries, owner: OsUser | null): Promise<Postmaster> {
    let postmaster = findPostmaster(this.#cluster);
    if (postmaster?.status === "stopping") {
      await waitUntilGone([postmaster], 30_000);
      postmaster = null;
    }
    const spawned = postmaster ? null : await spawnPostmaster(this.#dir, binaries, owner, this.#settings);
    const startedAt = performance.now();
    let guarded = false;
    for (let nextReport = 5_000; ; await sleep(10)) {
      postmaster = findPostmaster(this.#cluster);
      if (postmaster && !guarded) {
        spawnGuardian(this.#dir, this.#lingerSeconds);
        guarded = true;
      }
      if (postmaster?.status === "ready") return postmaster;
      if (spawned?.ended) {
        const output = spawned.output();
        const message = `Postgres failed to start. Its log ${spawned.log}:\n${output}`;
        throw TRANSIENT.test(output) ? new Error(message) : new StartError(message);
      }
      if (!spawned && !postmaster) throw new Error("the running Postgres has exited");
      if (performance.now() - startedAt > nextReport) {
        this.#log(`Postgres is still recovering from a crash after ${nextReport / 1000} s`);
        nextReport *= 2;
      }
    }
  }

  #address(port: number): PostgresAddress {
    const password = readFileSync(join(this.#dir, "password"), "utf8").trim();
    const long = Buffer.byteLength(join(this.#cluster, `.s.PGSQL.${port}`)) > LONGEST_SOCKET_PATH;
    return {
      uri: `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
      socket: long ? null : this.#cluster,
    };
  }

  /** Verifies that it answers; creates the database in a new cluster. */
  async #connectOnce(address: PostgresAddress, postmaster: Postmaster): Promise<void> {
    const open = (database: string) =>
      postgres(address.uri, { ...(address.socket && { host: address.socket }), database, max: 1, fetch_types: false });
    const deadline = performance.now() + 30_000;
    for (;;) {
      const sql = open(DATABASE);
      try {
        await sql`select 1`;
        return;
      } catch (error) {
        const { code } = error as { code?: string };
        if (code === "28P01") {
          throw new StartError(
            `${join(this.#dir, "password")} does not hold the password of the cluster in this directory`,
          );
        }
        if (code === "3D000") {
          const admin = open("postgres");
          await admin`create database ${admin(DATABASE)}`.finally(() => admin.end());
        } else if (!isProcessAlive(postmaster) || performance.now() > deadline) throw error;
        else await sleep(50);
      } finally {
        await sql.end({ timeout: 1 });
      }
    }
  }
}

/**
 * Stops the Postgres of a data directory whose servers were all killed. @returns false when a process uses or holds it
 */
export async function stopAbandonedPostgres(dataDir: string): Promise<boolean> {
  const dir = join(dataDir, "postgres");
  return withFileLock(join(dir, "lock"), { waitMs: LOCK_TIMEOUT_MS }, async () => {
    if ((await liveUsers(dir)).length > 0) return false;
    await shutDown(join(dir, "data"));
    return !(await isLocked(clusterLock(dir)));
  });
}
