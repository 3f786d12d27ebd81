import type { Bucket, TakeResult, Use, Windows } from "./windows.ts";

interface Window {
  used: number;
  /** End on the clock that was passed in. An integer, because V8 boxes fractions on the heap. */
  endsAt: number;
}

/**
 * Rate-limit windows of one process. Exact, because taking is synchronous.
 *
 * rate-limiter-flexible 11.4 was rejected: it took 81 MB of heap for 200,000 buckets and a timer for each, where this
 * takes 19, and it cannot take atomically from several buckets.
 *
 * All windows of a limit are equally long, so an append-only map is sorted by their end, with expired windows at its
 * front. `maxBuckets` bounds the memory: beyond it the oldest window of the largest map, the one that a flood fills, is
 * evicted; its holder starts with an empty window, which errs on the side of allowing.
 */
export class MemoryWindows implements Windows {
  readonly #byLimit = new Map<string, Map<string, Window>>();
  readonly #maxBuckets: number;
  readonly #now: () => number;
  #size = 0;
  #sweptAt: number;
  /** Windows evicted before their end. */
  evicted = 0;

  /** @param now monotonic time in milliseconds */
  constructor({ maxBuckets = 250_000, now = () => performance.now() } = {}) {
    this.#maxBuckets = maxBuckets;
    this.#now = now;
    this.#sweptAt = now();
  }

  get size(): number {
    return this.#size;
  }

  take(buckets: Bucket[]): TakeResult {
    const now = this.#now();
    if (now - this.#sweptAt >= SWEEP_EVERY_MS) this.#sweep(now);
    const windows = buckets.map((bucket) => this.#running(bucket, now));
    const allowed = buckets.every(({ limit }, index) => (windows[index]?.used ?? 0) < limit.count);
    const uses = buckets.map((bucket, index) => {
      let window = windows[index];
      if (allowed) {
        window ??= this.#open(bucket, now);
        window.used++;
      }
      return windowUse(bucket, window, now);
    });
    return { allowed, uses };
  }

  giveBack(bucket: Bucket): void {
    const window = this.#running(bucket, this.#now());
    if (!window || --window.used > 0) return;
    this.#byLimit.get(bucket.limit.name)!.delete(bucket.holder);
    this.#size--;
  }

  read(buckets: Bucket[]): Use[] {
    const now = this.#now();
    return buckets.map((bucket) => windowUse(bucket, this.#running(bucket, now), now));
  }

  stop(): void {
    this.#byLimit.clear();
    this.#size = 0;
  }

  #running({ limit, holder }: Bucket, now: number): Window | undefined {
    const window = this.#byLimit.get(limit.name)?.get(holder);
    return window && window.endsAt > now ? window : undefined;
  }

  #open({ limit, holder }: Bucket, now: number): Window {
    let windows = this.#byLimit.get(limit.name);
    if (!windows) this.#byLimit.set(limit.name, (windows = new Map()));
    // an expired window is removed first, so that the map stays sorted
    if (windows.delete(holder)) this.#size--;
    if (this.#size >= this.#maxBuckets) this.#evict();
    const window = { used: 0, endsAt: Math.ceil(now) + limit.seconds * 1000 };
    windows.set(holder, window);
    this.#size++;
    return window;
  }

  #evict(): void {
    let largest: Map<string, Window> | undefined;
    for (const windows of this.#byLimit.values()) {
      if (!largest || windows.size > largest.size) largest = windows;
    }
    for (const holder of largest?.keys() ?? []) {
      largest!.delete(holder);
      this.#size--;
      this.evicted++;
      return;
    }
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const windows of this.#byLimit.values()) {
      for (const [holder, { endsAt }] of windows) {
        if (endsAt > now) break;
        windows.delete(holder);
        this.#size--;
      }
    }
  }
}

/** Interval at which expired windows are deleted; until then they only take up memory. */
const SWEEP_EVERY_MS = 10_000;

function windowUse({ limit }: Bucket, window: Window | undefined, now: number): Use {
  const whole = limit.seconds * 1000;
  return { limit, used: window?.used ?? 0, resetMs: window ? Math.min(window.endsAt - now, whole) : whole };
}
