import { deferred, type Deferred } from "../deferred.ts";
import { isDatabaseUnavailable } from "./retry.ts";

export interface GroupCommitOptions<In> {
  /** Largest batch, in units of `weigh`. A single call may be heavier. */
  max?: number;
  /** Weight of a call; default: 1. */
  weigh?: (input: In) => number;
  /** Whether an error leaves open whether the batch was executed; default: that the database was unreachable. */
  isUnavailable?: (error: unknown) => boolean;
  /** Called before each batch is taken; resolves when it may start. `queued` returns the calls that wait. */
  ready?: (queued: () => In[]) => Promise<void>;
}

interface Call<In, Out> {
  input: In;
  done: Deferred<Out>;
}

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
  readonly #o: Required<Omit<GroupCommitOptions<In>, "ready">> & Pick<GroupCommitOptions<In>, "ready">;
  #queue: Call<In, Out>[] = [];
  #draining: Promise<void> | undefined;

  constructor(run: (inputs: In[]) => Promise<Out[]>, options: GroupCommitOptions<In> = {}) {
    this.#run = run;
    this.#o = { max: 64, weigh: () => 1, isUnavailable: isDatabaseUnavailable, ...options };
  }

  call(input: In): Promise<Out> {
    const done = deferred<Out>();
    this.#queue.push({ input, done });
    // collects the other calls of this turn of the event loop
    this.#draining ??= Promise.resolve().then(() => this.#drain());
    return done.promise;
  }

  /** Resolves when no call is waiting or running. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#next();
    } finally {
      // a promise that stayed here would keep all later calls waiting
      this.#draining = undefined;
    }
  }

  async #next(): Promise<void> {
    let batch: Call<In, Out>[] = [];
    try {
      await this.#o.ready?.(() => this.#queue.map(({ input }) => input));
      batch = this.#take();
      const outputs = await this.#run(batch.map(({ input }) => input));
      batch.forEach(({ done }, i) => done.resolve(outputs[i]!));
    } catch (error) {
      // the calls that `ready` was asked about fail with it
      if (batch.length === 0) this.#queue.splice(0).forEach(({ done }) => done.reject(error));
      else if (batch.length === 1 || this.#o.isUnavailable(error)) batch.forEach(({ done }) => done.reject(error));
      else await this.#oneByOne(batch);
    }
  }

  #take(): Call<In, Out>[] {
    let calls = 0;
    for (let weight = 0; calls < this.#queue.length; calls++) {
      weight += this.#o.weigh(this.#queue[calls]!.input);
      if (calls > 0 && weight > this.#o.max) break;
    }
    return this.#queue.splice(0, calls);
  }

  async #oneByOne(batch: Call<In, Out>[]): Promise<void> {
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
