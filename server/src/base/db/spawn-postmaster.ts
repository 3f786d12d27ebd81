import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { statSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { OsUser } from "./cluster-owner.ts";
import { acquireFileLock } from "./file-lock.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { clearOrphans, clusterName } from "./postmaster.ts";
import { clusterLock } from "./postgres-users.ts";
import { identifyProcess } from "./process-identity.ts";

/** fsync and synchronous_commit stay on: an acknowledged commit is on disk. */
const SETTINGS: Record<string, string> = {
  max_connections: "240",
  // Reserved for Heddle's own servers, which connect as superuser; other roles share the rest.
  superuser_reserved_connections: "40",
  shared_buffers: "128MB",
  effective_cache_size: "1GB",
  random_page_cost: "1.1",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  // No replicas or archives read this log: the lowest level that still recovers from a crash.
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "1GB",
  io_method: "sync",
  log_checkpoints: "off",
  log_min_messages: "warning",
  log_line_prefix: "%m [%p] ",
  timezone: "UTC",
};

const LARGEST_LOG = 20 * 1024 * 1024;

export interface SpawnedPostmaster {
  /** Whether it exited, or could not be started. */
  ended: boolean;
  log: string;
  /** Log output so far. */
  output(): string;
}

/**
 * Runs Postgres on `<dir>/data`. The caller holds `<dir>/lock`. All processes of Postgres inherit `cluster.lock`, so a
 * second Postgres cannot start while any of them lives, in any container.
 */
export async function spawnPostmaster(
  dir: string,
  binaries: PostgresBinaries,
  owner: OsUser | null,
  settings: Record<string, string>,
): Promise<SpawnedPostmaster> {
  const cluster = join(dir, "data");
  await clearOrphans(cluster);
  // The guardian probes this lock and holds it for a moment.
  const lock = await acquireFileLock(clusterLock(dir), { waitMs: 1_000 });
  try {
    return await spawnLocked(dir, binaries, owner, settings, lock.descriptor);
  } finally {
    lock.handOver();
  }
}

async function spawnLocked(
  dir: string,
  binaries: PostgresBinaries,
  owner: OsUser | null,
  settings: Record<string, string>,
  lock: number,
): Promise<SpawnedPostmaster> {
  const cluster = join(dir, "data");
  dropForeignPidFiles(cluster);
  const port = await choosePort(join(dir, "port"));
  const flags = Object.entries({
    ...SETTINGS,
    ...settings,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: ".",
    unix_socket_permissions: "0700",
    cluster_name: clusterName(cluster),
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);

  const log = join(dir, "postgres.log");
  const begin = rotate(log);
  const descriptor = openSync(log, "a", 0o600);
  const spawned: SpawnedPostmaster = {
    ended: false,
    log,
    output: () => readFileSync(log).subarray(begin).subarray(-4_000).toString().trim(),
  };
  // Detached: a terminal's Ctrl-C goes to its whole process group, and Postgres must stop last.
  const child = spawn(binaries.postgres, ["-D", owner ? "/proc/self/cwd" : cluster, "-p", String(port), ...flags], {
    cwd: cluster,
    detached: true,
    stdio: ["ignore", descriptor, descriptor, lock],
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
    ...owner,
  });
  closeSync(descriptor);
  child.once("error", (error) => {
    writeFileSync(log, `cannot run ${binaries.postgres}: ${error.message}\n`, { flag: "a" });
    spawned.ended = true;
  });
  child.once("exit", () => (spawned.ended = true));
  child.unref();
  return spawned;
}

/**
 * Removes foreign pid files: Postgres trusts a stale one when its pid now belongs to another process of the same user.
 */
function dropForeignPidFiles(cluster: string): void {
  const names = readdirSync(cluster).filter((name) => name === "postmaster.pid" || name.endsWith(".lock"));
  for (const name of names) {
    const path = join(cluster, name);
    const pid = Number(readFileSync(path, "utf8").split("\n")[0]);
    if (identifyProcess(pid)) unlinkSync(path);
  }
}

/** Returns the port used last, so that addresses survive a restart, else a free one. */
async function choosePort(file: string): Promise<number> {
  let port = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  while (!port || !(await portIsFree(port))) {
    // Below the ephemeral port range, so that it is free again next time.
    port = randomInt(20_000, 32_000);
  }
  writeFileSync(file, String(port), { mode: 0o600 });
  return port;
}

function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/** Returns the offset at which the next start's lines begin. */
function rotate(log: string): number {
  if (!existsSync(log)) return 0;
  const { size } = statSync(log);
  if (size < LARGEST_LOG) return size;
  renameSync(log, `${log}.1`);
  return 0;
}
