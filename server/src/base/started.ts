/** What was started, to be stopped in the opposite order; each also when another one fails to. */
export class Started {
  readonly #stops: (() => Promise<unknown>)[] = [];

  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  /** Throws the first error, after everything was stopped as far as it goes. */
  async stop(): Promise<void> {
    const errors: unknown[] = [];
    for (const stop of this.#stops.splice(0).reverse()) {
      await stop().catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }

  /** The result of `start`, or its error after what it had started was stopped again. */
  async orStop<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      await this.stop().catch(() => {});
      throw error;
    }
  }
}
