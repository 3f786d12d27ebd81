import type { DiskCheck } from "./disk-check.ts";
import { Health, type HealthOptions } from "./health.ts";
import type { Shortage } from "./shortage.ts";

/** Health of a whole server: its own parts, and the disks it writes to. */
export class ServerHealth extends Health {
  readonly #disk: DiskCheck;

  constructor({ checks, disk, ...options }: HealthOptions & { disk: DiskCheck }) {
    super({ ...options, checks: { ...checks, disk: () => disk.check() } });
    this.#disk = disk;
  }

  /** Notes a shortage; each later check tests whether it persists. */
  note(shortage: Shortage): void {
    this.#disk.note(shortage);
  }
}
