import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { fsyncSync } from "node:fs";
import { join } from "node:path";
import type { OsUser } from "./cluster-owner.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";

/**
 * Creates `<dir>/data` and `<dir>/password`. The cluster is built under another name and renamed once it is complete
 * and durable, so that a kill leaves either no cluster or a complete one.
 */
export async function initCluster(
  dir: string,
  user: string,
  binaries: PostgresBinaries,
  owner: OsUser | null,
): Promise<void> {
  const target = join(dir, "data");
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} contains files but no Postgres cluster. Move them away, or use another data directory.`);
  }
  rmSync(target, { recursive: true, force: true });
  for (const name of readdirSync(dir)) if (name.startsWith("new-")) rmSync(join(dir, name), { recursive: true });

  const fresh = join(dir, `new-${process.pid}`);
  mkdirSync(fresh, { mode: 0o700 });
  const password = randomBytes(24).toString("base64url");
  const passwordFile = join(dir, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  // initdb opens it by path as the cluster's owner, who may be able to reach it only as a descriptor.
  const handed = join(dir, `new-${process.pid}-password`);
  writeFileSync(handed, `${password}\n`, { mode: 0o600 });
  if (owner) {
    chownSync(fresh, owner.uid, owner.gid);
    chownSync(handed, owner.uid, owner.gid);
  }
  const stdin = openSync(handed, "r");
  try {
    const common = ["-D", owner ? "/proc/self/cwd" : fresh];
    const flags = [
      `--username=${user}`,
      "--pwfile=/dev/stdin",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // The same collation on every machine, whatever its locales.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      "--no-sync",
    ];
    await run(binaries.initdb, [...common, ...flags], fresh, owner, stdin);
    await run(binaries.initdb, [...common, "--sync-only"], fresh, owner, stdin);
  } finally {
    closeSync(stdin);
    rmSync(handed);
  }
  renameSync(fresh, target);
  syncDirectory(dir);
}

function run(program: string, args: string[], cwd: string, owner: OsUser | null, stdin: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: [stdin, "ignore", "pipe"],
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
      // Ctrl-C ends the server after the setup, instead of failing it
      detached: true,
      ...owner,
    });
    let output = "";
    child.stderr!.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => reject(failure(program, error.message)));
    child.once("close", (code) => (code === 0 ? resolve() : reject(failure(program, output.trim()))));
  });
}

function failure(program: string, reason: string): Error {
  return new Error(
    `Could not set up the embedded Postgres; set DATABASE_URI to use another Postgres. ${program}: ${reason}`,
  );
}

function syncDirectory(dir: string): void {
  const descriptor = openSync(dir, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
