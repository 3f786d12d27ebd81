/** Longest time for which a scrape waits for a store. */
const WAIT_MS = 800;
export interface ScrapedMetricsOptions<T> {
  /** Name for the log. */
  name: string;
  read: () => Promise<T>;
  log: { warn(fields: Record<string, unknown>, message: string): void };
  /** Time in milliseconds for which metrics are reported again without reading them. */
  keepMs?: number;
  /** Age in milliseconds up to which metrics are reported while newer ones are not available. */
  staleMs?: number;
  now?: () => number;
}

/**
 * Metrics that are read from a store when metrics are scraped. Scrapes share a read and its result, wait for less than
 * a second, and get the previous metrics, or none, while the store does not answer: the metrics of the process itself
 * matter most then.
 */
export class ScrapedMetrics<T> {
  readonly #options: Required<ScrapedMetricsOptions<T>>;
  #known: { metrics: T; at: number } | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: ScrapedMetricsOptions<T>) {
    this.#options = { keepMs: 5000, staleMs: 60_000, now: () => performance.now(), ...options };
  }

  /** Never rejects. */
  async get(): Promise<T | undefined> {
    const { keepMs, staleMs, now } = this.#options;
    const askedAt = now();
    if (this.#known && askedAt - this.#known.at < keepMs) return this.#known.metrics;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)));
    await Promise.race([this.#read(), late]).finally(() => clearTimeout(timer));
    return this.#known && askedAt - this.#known.at <= staleMs ? this.#known.metrics : undefined;
  }

  #read(): Promise<void> {
    const { name, read, log, now } = this.#options;
    return (this.#reading ??= read()
      .then(
        (metrics) => void (this.#known = { metrics, at: now() }),
        (error: unknown) => {
          this.#known = undefined;
          log.warn({ err: error }, `could not measure ${name}`);
        },
      )
      .finally(() => (this.#reading = undefined)));
  }
}
