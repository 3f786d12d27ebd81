import { deferred, type Deferred } from "../deferred.ts";
import { isDatabaseAway } from "./retry.ts";

/**
 * Batches calls that arrive while a statement is running into the next one, so that they share its round trip and its
 * commit. A lone call runs at once.
 *
 * `run` must return one output per input, in order. When it fails for several, they are retried one by one, so that one
 * bad input fails alone; except when the database is unreachable, because all may have been executed, and then all
 * fail.
 */
export class GroupCommit<In, Out> {
  readonly #run: (inputs: In[]) => Promise<Out[]>;
  readonly #max: number;
  #queue: { input: In; done: Deferred<Out> }[] = [];
  #busy = false;

  constructor(run: (inputs: In[]) => Promise<Out[]>, max = 64) {
    this.#run = run;
    this.#max = max;
  }

  call(input: In): Promise<Out> {
    const done = deferred<Out>();
    this.#queue.push({ input, done });
    if (!this.#busy) {
      this.#busy = true;
      // collects the other calls of this turn of the event loop
      queueMicrotask(() => void this.#drain());
    }
    return done.promise;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, this.#max);
      try {
        const outputs = await this.#run(batch.map((one) => one.input));
        batch.forEach((one, i) => one.done.resolve(outputs[i]!));
      } catch (error) {
        if (batch.length === 1 || isDatabaseAway(error)) batch.forEach((one) => one.done.reject(error));
        else await this.#oneByOne(batch);
      }
    }
    this.#busy = false;
  }

  async #oneByOne(batch: { input: In; done: Deferred<Out> }[]): Promise<void> {
    for (const { input, done } of batch) {
      try {
        const [output] = await this.#run([input]);
        done.resolve(output!);
      } catch (error) {
        done.reject(error);
      }
    }
  }
}
