/**
 * Times of one trace, in microseconds since 1970. Differences within a trace are those of the monotonic clock, so a
 * duration is exact and never negative, also when the system's clock is set meanwhile.
 */
export class TraceClock {
  readonly #offset = Date.now() - performance.now();
  #last = 0;

  now(): number {
    return Math.max(this.#last, Math.floor((performance.now() + this.#offset) * 1000));
  }

  /** Returns a time later than every other start: starts give the runs of a trace their order. */
  start(): number {
    return (this.#last = Math.max(this.#last + 1, this.now()));
  }
}

/** Formats microseconds as ISO 8601 in UTC, with six digits of a second. */
export function toIso(micros: number): string {
  const ms = Math.floor(micros / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros - ms * 1000).padStart(3, "0")}Z`;
}

/** Returns the segment of a run in `dotted_order`: its start and its id. */
export const orderSegment = (iso: string, id: string): string => iso.replaceAll(/[-:.]/g, "") + id;
