import { fchownSync, statSync } from "node:fs";

/**
 * Gives a new file to the owner of its directory, where this process is root: a command that root runs must not leave
 * files that the servers, which run as another user, cannot open.
 */
export function giveToOwner(descriptor: number, directory: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  if (uid !== 0) fchownSync(descriptor, uid, gid);
}

/** Does work as the owner of a directory, where this process is root. Only for commands: it affects the whole process. */
export async function asOwnerOf<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const { uid, gid } = statSync(directory);
  if (process.getuid?.() !== 0 || uid === 0) return work();
  process.setegid!(gid);
  process.seteuid!(uid);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}
