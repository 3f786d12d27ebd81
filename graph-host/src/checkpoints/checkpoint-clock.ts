import { randomFillSync } from "node:crypto";

/** Ticks of 100 ns, the unit of time-based UUIDs, from the Gregorian reform to the Unix epoch. */
const EPOCH_TICKS = 0x01b21dd213814000n;
const TICKS_PER_MS = 10_000n;
const LAST_TICK = (1n << 60n) - 1n;

/**
 * Hybrid logical clock for checkpoint ids. A thread's newest checkpoint is the one with the highest id, here and in the
 * official saver, so an id must exceed those of all checkpoints committed before, on whichever machine. It is the wall
 * clock's time where that is later, else the tick after the highest id that this clock has generated or observed. A
 * wall clock that is ahead, behind or stepping then costs accuracy, never order.
 *
 * Each run has a clock below the process's clock, so ids observed in a thread that was written by a machine whose clock
 * was years ahead affect that thread only. The process's clock, which exceeds all of them, serves code that has lost
 * its run's async context.
 */
export class CheckpointClock {
  #last = 0n;
  #above: CheckpointClock | undefined;
  #now: () => number;

  constructor(above?: CheckpointClock, now: () => number = Date.now) {
    this.#above = above;
    this.#now = now;
  }

  /**
   * Returns the next id, a UUIDv6. LangGraph passes the step as `clockseq`; 14 bits of it are kept, which do not affect
   * the order.
   */
  nextId(clockseq: number): string {
    const wall = BigInt(Math.trunc(this.#now())) * TICKS_PER_MS + EPOCH_TICKS;
    const tick = wall > this.#last ? wall : this.#last + 1n;
    if (tick > LAST_TICK)
      throw new Error("The checkpoints of this thread have used up the time that a UUIDv6 can hold");
    this.#raise(tick);
    return format(tick, clockseq);
  }

  /** Advances the clock so that later ids exceed this one. Ids that are not UUIDs are ignored. */
  observe(id: string): void {
    const tick = tickAtOrAbove(id);
    if (tick !== undefined) this.#raise(tick);
  }

  #raise(tick: bigint): void {
    if (tick > this.#last) this.#last = tick;
    if (this.#above !== undefined) this.#above.#raise(tick);
  }
}

const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the highest tick of a UUIDv6 not above `id`: ids are compared as text. */
function tickAtOrAbove(id: string): bigint | undefined {
  const match = UUID.exec(id);
  if (!match) return undefined;
  const [, high, mid, version, low] = match;
  return BigInt(`0x${high}${mid}${version === "6" ? low : "fff"}`);
}

function format(tick: bigint, clockseq: number): string {
  const time = tick.toString(16).padStart(15, "0");
  const sequence = ((clockseq & 0x3fff) | 0x8000).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-6${time.slice(12)}-${sequence}-${randomNode()}`;
}

const pool = Buffer.alloc(6 * 512);
let at = pool.length;

function randomNode(): string {
  if (at === pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  at += 6;
  return pool.toString("hex", at - 6, at);
}

/** Clock above every id that this process has generated or observed. */
export const processClock = new CheckpointClock();
