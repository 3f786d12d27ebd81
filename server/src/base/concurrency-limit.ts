/** Lets at most `max` pieces of work run at the same time; the others wait in the order in which they came. */
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
      // the place goes from hand to hand, so that nobody slips in between
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
