import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { clusterOwner, type OsUser } from "./cluster-owner.ts";
import { withFileLock } from "./file-lock.ts";
import { initCluster } from "./init-cluster.ts";
import { findPostgresBinaries, type PostgresBinaries } from "./postgres-binaries.ts";
import { endPostmaster, findPostmaster, shutDown, waitUntilGone, type Postmaster } from "./postmaster.ts";
import { identifyProcess, processLives, type ProcessIdentity } from "./process-identity.ts";
import { spawnPostmaster } from "./spawn-postmaster.ts";

/**
 * The Postgres that Heddle brings along, in `<dataDir>/postgres`:
 *
 *     data/          the cluster (PGDATA), owned by the user that Postgres runs as
 *     password       of the database user "heddle", readable by its owner alone
 *     port           the port used last, kept so that addresses survive a restart
 *     postgres.log
 *     users/         one file for each process that uses it: pid and start time
 *     lock           held while somebody starts or stops it
 *
 * Postgres is nobody's child: it outlives a server that is killed, and the next start adopts it. Several
 * servers may share it; the last one that stops takes it down. Starting goes
 *
 *     nothing --initdb--> cluster --spawn--> starting --(crash recovery)--> ready
 *
 * and begins at whichever state it finds. As root, Postgres runs as another user, who often cannot reach the
 * data directory (/root, a private temporary directory). It does not have to: it is spawned with the cluster
 * as working directory and told to find it at /proc/self/cwd.
 */
export interface EmbeddedPostgresOptions {
  dataDir: string;
  /** Told what takes time or went wrong. */
  log?: (message: string) => void;
  /** Postgres settings on top of ours. */
  settings?: Record<string, string>;
}

export interface PostgresAddress {
  /** Over loopback TCP, with the password. */
  uri: string;
  /**
   * Directory of the Unix socket, which is a fifth faster than TCP: `postgres(uri, { host: socket })`.
   * Null where the path is longer than the system allows.
   */
  socket: string | null;
}

const USER = "heddle";
const DATABASE = "heddle";
const LOCK_TIMEOUT_MS = 120_000;
/** sockaddr_un holds 104 bytes on macOS and 108 on Linux. */
const LONGEST_SOCKET_PATH = 100;

/** What goes away by itself: the leftovers of a killed Postgres, somebody else on the port. */
const TRANSIENT = /pre-existing shared memory block|lock file .* already exists|could not create any TCP\/IP sockets/;

/** Trying again will not help. */
class StartError extends Error {}

export class EmbeddedPostgres {
  #dir: string;
  #cluster: string;
  #log: (message: string) => void;
  #settings: Record<string, string>;
  #registration: string | null = null;
  #running: { postmaster: ProcessIdentity; address: PostgresAddress } | null = null;
  #starting: Promise<PostgresAddress> | null = null;

  constructor(options: EmbeddedPostgresOptions) {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    this.#dir = join(realpathSync(options.dataDir), "postgres");
    this.#cluster = join(this.#dir, "data");
    this.#log = options.log ?? (() => {});
    this.#settings = options.settings ?? {};
  }

  /** Starts or adopts Postgres and registers this process as one that uses it. */
  async start(): Promise<PostgresAddress> {
    mkdirSync(join(this.#dir, "users"), { recursive: true, mode: 0o700 });
    if (!this.#registration) {
      const registration = join(this.#dir, "users", `${process.pid}-${randomBytes(4).toString("hex")}`);
      await this.#locked(async () => {
        writeFileSync(registration, JSON.stringify(identifyProcess(process.pid)), { mode: 0o600 });
      });
      this.#registration = registration;
    }
    try {
      return await this.ensureRunning();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Costs microseconds while Postgres lives; starts it again when it died. Only between start and stop. */
  async ensureRunning(): Promise<PostgresAddress> {
    if (!this.#registration) throw new Error("the embedded Postgres was not started");
    if (this.#running && processLives(this.#running.postmaster)) return this.#running.address;
    this.#starting ??= this.#locked(() => this.#startOrAdopt()).finally(() => (this.#starting = null));
    return this.#starting;
  }

  /** Stops Postgres unless another live process uses it. */
  async stop(): Promise<void> {
    if (!this.#registration) return;
    await this.#starting?.catch(() => {});
    if (!existsSync(this.#registration)) {
      // Somebody removed the data directory below us: nothing to keep, but a process to end.
      this.#registration = null;
      if (this.#running) await endPostmaster(this.#running.postmaster);
      return;
    }
    await this.#locked(async () => {
      if (!this.#registration) return;
      unlinkSync(this.#registration);
      this.#registration = null;
      this.#running = null;
      if (!inUse(this.#dir)) await shutDown(this.#cluster);
    });
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(join(this.#dir, "lock"), LOCK_TIMEOUT_MS, work);
  }

  async #startOrAdopt(): Promise<PostgresAddress> {
    const owner = clusterOwner(this.#cluster);
    const binaries = findPostgresBinaries(owner);
    if (!existsSync(join(this.#cluster, "PG_VERSION"))) await initCluster(this.#dir, USER, binaries, owner);
    this.#checkVersion(binaries);
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
      `${this.#cluster} was written by Postgres ${found}, this is Postgres ${binaries.major}. Move its contents ` +
        `over with pg_dump of version ${found}, name another data directory, or set DATABASE_URI.`,
    );
  }

  /** The running Postgres, or a new one, once it says that it is ready. Recovery may take its time. */
  async #readyPostmaster(binaries: PostgresBinaries, owner: OsUser | null): Promise<Postmaster> {
    let postmaster = findPostmaster(this.#cluster);
    if (postmaster?.status === "stopping") {
      await waitUntilGone([postmaster], 30_000);
      postmaster = null;
    }
    const spawned = postmaster ? null : await spawnPostmaster(this.#dir, binaries, owner, this.#settings);
    const began = Date.now();
    for (let told = 5_000; ; await sleep(10)) {
      postmaster = findPostmaster(this.#cluster);
      if (postmaster?.status === "ready") return postmaster;
      if (spawned?.ended) {
        const output = spawned.output();
        const message = `Postgres did not start. Its log, ${spawned.log}, says:\n${output}`;
        throw TRANSIENT.test(output) ? new Error(message) : new StartError(message);
      }
      if (!spawned && !postmaster) throw new Error("the Postgres that ran has ended");
      if (Date.now() - began > told) {
        this.#log(`Postgres recovers from a crash, ${told / 1000} s so far`);
        told *= 2;
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

  /** Proves that it answers; makes the database when the cluster is new. */
  async #connectOnce(address: PostgresAddress, postmaster: Postmaster): Promise<void> {
    const open = (database: string) =>
      postgres(address.uri, { ...(address.socket && { host: address.socket }), database, max: 1, fetch_types: false });
    const deadline = Date.now() + 30_000;
    for (;;) {
      const sql = open(DATABASE);
      try {
        await sql`select 1`;
        return;
      } catch (error) {
        const { code } = error as { code?: string };
        if (code === "28P01") {
          throw new StartError(`${join(this.#dir, "password")} is not the password of the cluster beside it`);
        }
        if (code === "3D000") {
          const admin = open("postgres");
          await admin`create database ${admin(DATABASE)}`.finally(() => admin.end());
        } else if (!processLives(postmaster) || Date.now() > deadline) throw error;
        else await sleep(50);
      } finally {
        await sql.end({ timeout: 1 });
      }
    }
  }
}

/** Stops the Postgres of a data directory whose servers were all killed. False when one of them lives. */
export async function stopAbandonedPostgres(dataDir: string): Promise<boolean> {
  const dir = join(dataDir, "postgres");
  return withFileLock(join(dir, "lock"), LOCK_TIMEOUT_MS, async () => {
    if (inUse(dir)) return false;
    await shutDown(join(dir, "data"));
    return true;
  });
}

/** Whether a live process is registered. Forgets the dead ones. */
function inUse(dir: string): boolean {
  let used = false;
  for (const name of readdirSync(join(dir, "users"))) {
    const path = join(dir, "users", name);
    if (processLives(JSON.parse(readFileSync(path, "utf8")) as ProcessIdentity)) used = true;
    else unlinkSync(path);
  }
  return used;
}
