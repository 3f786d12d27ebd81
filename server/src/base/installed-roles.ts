import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SERVER_ROLES = ["trace", "control", "gateway", "agent", "worker"] as const;
export type ServerRole = (typeof SERVER_ROLES)[number];

/** Directory with one file for each role that has been started on the data directory. */
const marks = (dataDir: string): string => join(dataDir, "roles");

/** Notes that a role runs here, for commands that examine the installation. */
export function recordRole(dataDir: string, role: ServerRole): void {
  try {
    mkdirSync(marks(dataDir), { recursive: true, mode: 0o700 });
    writeFileSync(join(marks(dataDir), role), `${new Date().toISOString()}\n`, { mode: 0o600 });
  } catch {
    // a full disk is reported elsewhere, and nothing depends on the mark
  }
}

/** Returns the roles that have been started on a data directory. */
export function installedRoles(dataDir: string): ReadonlySet<ServerRole> {
  try {
    const names = readdirSync(marks(dataDir));
    return new Set(SERVER_ROLES.filter((role) => names.includes(role)));
  } catch {
    return new Set();
  }
}
