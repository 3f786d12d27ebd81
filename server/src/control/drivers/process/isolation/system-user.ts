import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import type { ConfinedCommand, Isolation } from "./isolation.ts";

/** Wraps a command to run as another user, without capabilities or a way to gain any. Needs root. */
export function asUser(uid: number, command: readonly string[]): string[] {
  const identity = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
  return ["setpriv", ...identity, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--", ...command];
}

/** Runs commands as their deployment's system user. File modes deny it access to files of others. */
export class SystemUser implements Isolation {
  readonly kind = "user";
  readonly hasUsers = true;

  wrap({ account, command }: ConfinedCommand): string[] {
    return asUser(account.uid!, command);
  }

  temporaryPath(temporary: string): string {
    return temporary;
  }
}

/** Directories of the control plane that deployments' users may traverse, but not list. */
const PASSAGES = ["builds", "instances", "deployments"];

/**
 * Lets deployments' users traverse the data directory to their own files, and denies them all else in it. `directory`:
 * the control plane's, in the data directory.
 */
export function openPassages(directory: string): void {
  const passages = PASSAGES.map((name) => join(directory, name));
  for (const path of passages) mkdirSync(path, { recursive: true, mode: 0o711 });
  closeOthers(dirname(directory), [directory]);
  closeOthers(directory, passages);
  for (const path of passagesTo(directory)) chmodSync(path, 0o711);
}

/** Returns the directories that deployments' users traverse to their files, from the data directory on. */
export const passagesTo = (directory: string): string[] => [
  dirname(directory),
  directory,
  ...PASSAGES.map((name) => join(directory, name)),
];

function closeOthers(directory: string, passages: string[]): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (passages.includes(path)) continue;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && found.uid === process.getuid!() && (found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o7700);
  }
}
