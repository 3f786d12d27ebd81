import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Longer than any file is written or waits for its upload. Processes are not asked: they may be in other containers. */
const LEFT_AFTER_MS = 2 * 3_600_000;

/** Removes from `directory` what processes that were killed have left there; never `own`, a name in it. */
export async function removeLeftFiles(directory: string, own: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (name !== own && now - (await touchedAt(path)) > LEFT_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}

/** When anything in it changed last, in ms; now for what is gone meanwhile. */
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
