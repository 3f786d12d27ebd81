/** Started components, stopped in reverse order; a failed stop does not prevent the others. */
export class Started {
  readonly #stops: (() => Promise<unknown>)[] = [];

  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  /** Stops all components, then throws the first error. */
  async stop(): Promise<void> {
    const errors: unknown[] = [];
    for (const stop of this.#stops.splice(0).reverse()) {
      await stop().catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Returns the result of `start`, or stops what it had started and rethrows its error. */
  async orStop<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      await this.stop().catch(() => {});
      throw error;
    }
  }
}
