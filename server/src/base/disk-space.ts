import { randomBytes } from "node:crypto";
import { rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CheckResult } from "./health.ts";

const MIB = 1024 * 1024;
const PROBE_BYTES = 64 * 1024;

/** Checks that the file system of `directory` has at least `limitMb` MiB left. */
export async function checkFreeSpace(directory: string, limitMb: number): Promise<CheckResult> {
  const { bavail, bsize } = await statfsAbove(directory);
  const freeMb = Math.floor((Number(bavail) * Number(bsize)) / MIB);
  const metrics = { free_mb: freeMb, limit_mb: limitMb };
  if (freeMb >= limitMb) return { ok: true, ...metrics };
  return {
    ok: false,
    reason: `disk full: the data directory has ${freeMb} MiB free, less than ${limitMb} MiB`,
    ...metrics,
  };
}

/** Stats a directory that may not exist yet by its closest existing ancestor. */
async function statfsAbove(directory: string): ReturnType<typeof statfs> {
  try {
    return await statfs(directory);
  } catch (error) {
    const parent = dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === directory) throw error;
    return statfsAbove(parent);
  }
}

/** Writes and removes a file. Throws the system's error: a quota is not part of the file system's metrics. */
export async function probeDirectory(directory: string): Promise<void> {
  const file = join(directory, `.space-${randomBytes(6).toString("hex")}`);
  try {
    await writeFile(file, Buffer.alloc(PROBE_BYTES, 1), { flag: "wx", mode: 0o600 });
  } finally {
    await rm(file, { force: true });
  }
}
