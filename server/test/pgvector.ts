import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

import { clusterOwner } from "../src/base/db/cluster-owner.ts";
import { connect, type Sql } from "../src/base/db/connect.ts";
import { migrate } from "../src/base/db/migrate.ts";
import { atEnd } from "./at-end.ts";

const VERSION = "0.1.4";

/**
 * Starts a separate Postgres with pgvector and Heddle's schema: that of PyPI's `pgserver`, whose wheel contains the
 * programs. Not every release of Debian packages it.
 */
export async function testPgvector(): Promise<Sql> {
  const home = mkdtempSync(join(tmpdir(), "heddle-pgvector-"));
  // the user that Postgres runs as may be unable to read root's cache
  cpSync(fetchWheel(), join(home, "pg"), { recursive: true });
  const programs = join(home, "pg/pgserver/pginstall/bin");
  for (const program of readdirSync(programs)) chmodSync(join(programs, program), 0o755);
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  const owner = clusterOwner(join(home, "none"));
  if (owner) for (const dir of [home, data]) chownSync(dir, owner.uid, owner.gid);
  // its child would keep a pipe open
  const run = (program: string, ...args: string[]) =>
    check(join(programs, program), args, { cwd: home, ...owner, stdio: program === "pg_ctl" ? "ignore" : "pipe" });
  run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync");
  const options = `-k ${home} -c listen_addresses= -c fsync=off`;
  run("pg_ctl", "-D", data, "-w", "-o", options, "-l", join(home, "log"), "start");
  const sql = connect({ uri: "postgres://postgres@localhost/postgres", socket: home }, { max: 4 });
  atEnd(async () => {
    await sql.end({ timeout: 2 });
    run("pg_ctl", "-D", data, "-m", "immediate", "stop");
    rmSync(home, { recursive: true, force: true });
  });
  await migrate(sql);
  return sql;
}

/** Downloads and unpacks the wheel into a cache. Any Python version will do: only the programs in it are used. */
function fetchWheel(): string {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", `pgserver-${VERSION}`);
  const unpacked = join(cache, "unpacked");
  if (existsSync(join(unpacked, "pgserver/pginstall/bin/postgres"))) return unpacked;
  mkdirSync(cache, { recursive: true });
  const choice = ["--only-binary=:all:", "--no-deps", "--python-version", "3.12", "--implementation", "cp"];
  // Debian's python3 has no pip, a virtual environment has one
  const environment = join(cache, "venv");
  check("python3", ["-m", "venv", environment]);
  const pip = join(environment, "bin/pip");
  check(pip, ["download", "--quiet", ...choice, "--dest", cache, `pgserver==${VERSION}`]);
  const wheel = readdirSync(cache).find((name) => name.endsWith(".whl"))!;
  check("python3", ["-m", "zipfile", "-e", join(cache, wheel), unpacked]);
  return unpacked;
}

function check(program: string, args: string[], options: Parameters<typeof spawnSync>[2] = {}): void {
  const { status, error, stderr } = spawnSync(program, args, options);
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? ""}${String(stderr ?? "")}`);
}
