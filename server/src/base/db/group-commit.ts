import { deferred, type Deferred } from "../deferred.ts";
import { isDatabaseAway } from "./retry.ts";

/**
 * Calls that arrive while one statement is under way go together in the next, so that they share its round
 * trip and its commit. A lone call goes at once and waits for nobody.
 *
 * `run` gets the inputs and must answer one output each, in order. When it fails for several, they are tried
 * one by one, so that one bad input harms nobody else; not when the database is away, for then all may have
 * happened and all fail alike.
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
      // what else happens in this turn of the event loop comes along
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
