import { Gauge, type Registry } from "prom-client";

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

export interface ScrapedGauge<T> {
  name: string;
  help: string;
  registers: Registry[];
  /** Name of the gauge's label. */
  label?: string;
  /** Returns the gauge's value, or that of each value of the label. */
  values(metrics: T): number | Record<string, number>;
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

  /** Registers a gauge. It has no value while the metrics are not available. */
  gauge({ label, values, ...gauge }: ScrapedGauge<T>): void {
    const read = () => this.get();
    void new Gauge({
      ...gauge,
      labelNames: label === undefined ? [] : [label],
      async collect() {
        const metrics = await read();
        this.reset();
        if (metrics === undefined) return;
        const found = values(metrics);
        if (typeof found === "number") this.set(found);
        else for (const [value, count] of Object.entries(found)) this.set({ [label!]: value }, count);
      },
    });
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
