import type { DiskCheck } from "./disk-check.ts";
import { Health, type HealthOptions } from "./health.ts";
import type { Shortage } from "./shortage.ts";

/** The health of a whole server: its own parts, and the disks that it writes to. */
export class ServerHealth extends Health {
  readonly #disk: DiskCheck;

  constructor({ checks, disk, ...options }: HealthOptions & { disk: DiskCheck }) {
    super({ ...options, checks: { ...checks, disk: () => disk.check() } });
    this.#disk = disk;
  }

  /** Something ran out; from now on each look finds out whether it still has. */
  note(shortage: Shortage): void {
    this.#disk.note(shortage);
  }
}
