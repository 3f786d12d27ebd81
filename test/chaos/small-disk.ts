import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A directory on a separate file system that can be filled. Needs permission to mount. */
export class SmallDisk {
  readonly directory: string;
  readonly #filler: string;

  private constructor(directory: string) {
    this.directory = directory;
    this.#filler = join(directory, "filler");
  }

  /** Mounts a tmpfs of `megabytes` over `directory`; returns undefined where that is not allowed. */
  static mount(directory: string, megabytes: number): SmallDisk | undefined {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    const options = ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "chaos", directory];
    return spawnSync("mount", options, { stdio: "ignore" }).status === 0 ? new SmallDisk(directory) : undefined;
  }

  /** Writes until the disk is full. */
  fill(): void {
    const file = openSync(this.#filler, "w");
    let size = 0;
    for (let chunk = 1 << 20; chunk >= 1; chunk = chunk >> 4) {
      const bytes = Buffer.alloc(chunk, 1);
      try {
        for (;;) size += writeSync(file, bytes, 0, chunk, size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
    ftruncateSync(file, size);
    closeSync(file);
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  unmount(): void {
    spawnSync("umount", ["-l", this.directory], { stdio: "ignore" });
  }
}

/** Whether this process may mount, as in a separate mount namespace. */
export const mayMount = (): boolean => process.env["HEDDLE_CHAOS_NAMESPACE"] === "1" && process.getuid?.() === 0;
