/**
 * Announces writes of runs before they happen, by hour of their start. An announcement covers writes that begin within
 * COVERED_MS, so a hundred inserts into an hour cost one statement. A copy of an hour begins only after QUIET_SECONDS
 * without announcement, when the covered writes have ended. A write that took longer than COVERED_MS, such as in a
 * process that was frozen, is announced again after it.
 */
import type { Sql } from "../../base/db/connect.ts";
import { type Hour, markHours } from "./sql.ts";

const COVERED_MS = 10_000;
/** Longer than twice COVERED_MS. */
export const QUIET_SECONDS = 60;
const MAX_KNOWN = 20_000;
const HOUR_MS = 3_600_000;

export class HourMarks {
  readonly #sql: Sql;
  /** When the last announcement of an hour began, by the monotonic clock. */
  readonly #announced = new Map<string, number>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @returns a function to call after the write */
  async announce(hours: Iterable<Hour>): Promise<() => Promise<void>> {
    const all = new Map<string, Hour>();
    for (const hour of hours) all.set(`${hour.tenant_id}${hour.project_id}${hour.hour}`, hour);
    const mark = async (isCovered: (at: number | undefined) => boolean) => {
      const missing = [...all].filter(([key]) => !isCovered(this.#announced.get(key)));
      if (missing.length === 0) return;
      const now = performance.now();
      await markHours(
        this.#sql,
        missing.map(([, hour]) => hour),
      );
      if (this.#announced.size + missing.length > MAX_KNOWN) this.#announced.clear();
      for (const [key] of missing) this.#announced.set(key, now);
    };
    const startedAt = performance.now();
    await mark((at) => at !== undefined && startedAt - at < COVERED_MS);
    return async () => {
      const now = performance.now();
      if (now - startedAt > COVERED_MS) await mark((at) => at !== undefined && now - at < COVERED_MS);
    };
  }

  /** Forgets what was announced. */
  clear(): void {
    this.#announced.clear();
  }
}

/** Returns the hour of a start time, `YYYY-MM-DD hh:mm:ss.ffffff`. */
export const hourOf = (startTime: string): number =>
  Math.floor(Date.parse(`${startTime.slice(0, 19).replace(" ", "T")}Z`) / HOUR_MS);
