import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Disk quota shared by all frame logs of a server, in bytes. */
export class SpillSpace {
  readonly limit: number;
  #used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** @returns false, and takes nothing, when the bytes would exceed the limit */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/**
 * Returns the configured limit, or half of the directory's free space when that is less: in a container the data
 * directory may be a small tmpfs. The directory need not exist yet.
 */
export async function spillLimit(directory: string, configured: number): Promise<number> {
  for (let at = directory; ; at = dirname(at)) {
    try {
      const { bavail, bsize } = await statfs(at);
      return Math.min(configured, Math.floor((bavail * bsize) / 2));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(at) === at) return configured;
    }
  }
}
