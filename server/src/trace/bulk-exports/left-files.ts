import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Longer than writing a file and waiting for its upload can take. Age decides, since owning processes may be in other
 * containers.
 */
const LEFT_AFTER_MS = 2 * 3_600_000;

/** Deletes files of killed processes from `directory`, except the entry `own`. */
export async function removeLeftFiles(directory: string, own: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (name !== own && now - (await touchedAt(path)) > LEFT_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Returns the latest modification time within `path` in ms; the current time if it no longer exists. */
async function touchedAt(path: string): Promise<number> {
  try {
    const inside = await readdir(path, { recursive: true });
    const times = await Promise.all([".", ...inside].map(async (name) => (await stat(join(path, name))).mtimeMs));
    return Math.max(...times);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return Date.now();
    throw error;
  }
}
