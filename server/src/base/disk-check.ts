import { checkFreeSpace, probeDirectory } from "./disk-space.ts";
import type { CheckResult } from "./health.ts";
import { errorWord } from "./repeated-failure.ts";
import { type Shortage, shortageIn } from "./shortage.ts";

type DiskKind = Extract<Shortage["kind"], "server-disk" | "database-disk">;

export interface DiskCheckOptions {
  /** Data directory. */
  directory: string;
  /** Free space of its file system, in MiB, below which the server is not ready. */
  limitMb: number;
  /** Writes to the database's disk and rolls back; throws while it is full. */
  probeDatabase: () => Promise<void>;
}

/**
 * Monitors the disks that a server writes to. The free space of the data directory is read from the system. A full
 * database disk, or an exceeded quota, shows only in a failed write (`note`); from then on each check makes a small
 * write to test whether it persists.
 */
export class DiskCheck {
  readonly #options: DiskCheckOptions;
  readonly #suspected = new Map<DiskKind, string>();

  constructor(options: DiskCheckOptions) {
    this.#options = options;
  }

  /** Notes a failed write; shortages other than of disks are left to the caller. */
  note({ kind, message }: Shortage): void {
    if (kind === "server-disk" || kind === "database-disk") this.#suspected.set(kind, message);
  }

  async check(): Promise<CheckResult> {
    const { directory, limitMb } = this.#options;
    const space = await checkFreeSpace(directory, limitMb);
    for (const kind of [...this.#suspected.keys()]) {
      const reason = await this.#stillFull(kind);
      if (reason !== undefined && space.ok) return { ...space, ok: false, reason };
    }
    return space;
  }

  async #stillFull(kind: DiskKind): Promise<string | undefined> {
    try {
      if (kind === "server-disk") await probeDirectory(this.#options.directory);
      else await this.#options.probeDatabase();
      this.#suspected.delete(kind);
      return undefined;
    } catch (error) {
      const shortage = shortageIn(error);
      return shortage ? `disk full: ${shortage.message}` : `disk full: unknown (${errorWord(error)})`;
    }
  }
}
