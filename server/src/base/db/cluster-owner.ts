import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

export interface OsUser {
  uid: number;
  gid: number;
}

const ACCOUNT = "postgres";

/**
 * Returns the OS user that Postgres must run as; null for the current one. Postgres does not run as root, so root
 * uses the owner of an existing cluster, else the account `postgres`, created if needed.
 */
export function clusterOwner(clusterDir: string): OsUser | null {
  if (process.getuid?.() !== 0) return null;
  if (process.platform !== "linux") {
    throw new Error("Postgres cannot run as root. Start as an ordinary user, or set DATABASE_URI.");
  }
  if (existsSync(clusterDir)) {
    const { uid, gid } = statSync(clusterDir);
    if (uid !== 0) return { uid, gid };
  }
  const known = lookUp();
  if (known) return known;
  spawnSync("groupadd", ["--system", ACCOUNT]);
  spawnSync("useradd", ["--system", "--gid", ACCOUNT, "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT]);
  const created = lookUp();
  if (created) return created;
  throw new Error(
    `Postgres cannot run as root, and the account "${ACCOUNT}" could not be created. Create it, start as an ` +
      "ordinary user, or set DATABASE_URI.",
  );
}

/**
 * Returns why the files of an existing cluster cannot be opened by the user that Postgres runs as, and the command that
 * changes their owner: a copied or restored data directory often belongs to the user who copied it.
 */
export function ownerProblem(clusterDir: string, owner: OsUser | null): string | undefined {
  const uid = owner?.uid ?? process.getuid?.();
  if (uid === undefined) return undefined;
  const files = [clusterDir, join(clusterDir, "PG_VERSION"), join(clusterDir, "global", "pg_control")];
  if (!existsSync(files[1]!)) return undefined;
  const foreign = files.find((file) => existsSync(file) && statSync(file).uid !== uid);
  if (foreign === undefined) return undefined;
  const group = owner?.gid ?? process.getgid?.() ?? uid;
  return (
    `${foreign} belongs to user ${statSync(foreign).uid}, but the embedded Postgres runs as user ${uid}. If the data ` +
    `directory was copied or restored, correct its owner:\n  chown -R ${uid}:${group} ${clusterDir}`
  );
}

function lookUp(): OsUser | null {
  try {
    const id = (flag: string) =>
      Number(execFileSync("id", [flag, ACCOUNT], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return null;
  }
}
