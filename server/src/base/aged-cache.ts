interface AgedCacheOptions<T> {
  maxAgeMs: number;
  maxEntries: number;
  /** Whether an answer is kept. Failures never are. */
  keeps?: (found: T) => boolean;
}

/**
 * Remembers answers by their key. One is used while it is younger than `maxAgeMs`, by this process's monotonic clock and
 * counted from the beginning of its query. Questions during a query share it. The oldest entries give way to new ones.
 */
export class AgedCache<T> {
  readonly #options: AgedCacheOptions<T>;
  readonly #entries = new Map<string, { at: number; found: Promise<T> }>();

  constructor(options: AgedCacheOptions<T>) {
    this.#options = options;
  }

  /** @throws what `load` throws */
  get(key: string, load: () => Promise<T>): Promise<T> {
    const { maxAgeMs, maxEntries, keeps = () => true } = this.#options;
    const at = performance.now();
    const known = this.#entries.get(key);
    if (known && at - known.at < maxAgeMs) return known.found;
    const entry = { at, found: load() };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
    const drop = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.found.then((found) => keeps(found) || drop(), drop);
    return entry.found;
  }

  clear(): void {
    this.#entries.clear();
  }
}
