/** Semaphore: runs at most `max` pieces of work concurrently; the others wait in order of arrival. */
export class ConcurrencyLimit {
  readonly #max: number;
  #running = 0;
  #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // the slot is handed over directly, so that no newcomer overtakes
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
