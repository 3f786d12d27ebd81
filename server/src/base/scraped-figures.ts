/** Longest time for which a scrape waits for a store. */
const WAIT_MS = 800;
export interface ScrapedFiguresOptions<T> {
  /** Name for the log. */
  name: string;
  read: () => Promise<T>;
  log: { warn(fields: Record<string, unknown>, message: string): void };
  /** Time in milliseconds for which figures are reported again without reading them. */
  keepMs?: number;
  /** Age in milliseconds up to which figures are reported while newer ones are not available. */
  staleMs?: number;
  now?: () => number;
}

/**
 * Figures that are read from a store when metrics are scraped. Scrapes share a read and its result, wait for less than
 * a second, and get the previous figures, or none, while the store does not answer: the figures of the process itself
 * matter most then.
 */
export class ScrapedFigures<T> {
  readonly #options: Required<ScrapedFiguresOptions<T>>;
  #known: { figures: T; at: number } | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: ScrapedFiguresOptions<T>) {
    this.#options = { keepMs: 5000, staleMs: 60_000, now: () => performance.now(), ...options };
  }

  /** Never rejects. */
  async get(): Promise<T | undefined> {
    const { keepMs, staleMs, now } = this.#options;
    const askedAt = now();
    if (this.#known && askedAt - this.#known.at < keepMs) return this.#known.figures;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)));
    await Promise.race([this.#read(), late]).finally(() => clearTimeout(timer));
    return this.#known && askedAt - this.#known.at <= staleMs ? this.#known.figures : undefined;
  }

  #read(): Promise<void> {
    const { name, read, log, now } = this.#options;
    return (this.#reading ??= read()
      .then(
        (figures) => void (this.#known = { figures, at: now() }),
        (error: unknown) => {
          this.#known = undefined;
          log.warn({ err: error }, `could not measure ${name}`);
        },
      )
      .finally(() => (this.#reading = undefined)));
  }
}
