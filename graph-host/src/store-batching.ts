import { AsyncBatchedStore, type BaseStore, type Operation } from "@langchain/langgraph-checkpoint";

interface Pending {
  operation: Operation;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Batching {
  store: BaseStore;
  running: boolean;
  /** Operations of this turn of the event loop. */
  turn?: Pending[];
}

/**
 * LangGraph wraps the store of every run, and of every subgraph, in a batcher that looks for work each
 * millisecond as long as the run lasts, and makes the run's end wait for its last look. That is a tenth to
 * a half of the throughput of concurrent runs, whether they use the store or not. This one starts a batch
 * when there is something to do: everything that was asked for in one turn of the event loop.
 *
 * It changes the library's class in this process; a version of it that looks different is left as it is.
 */
export function batchStoreOnDemand(): void {
  const prototype = AsyncBatchedStore.prototype as unknown as Record<string, unknown>;
  if (typeof prototype.enqueueOperation !== "function" || typeof prototype.processBatchQueue !== "function") return;
  Object.assign(prototype, { start, stop, enqueueOperation });
}

function start(this: Batching): void {
  this.running = true;
}

function stop(this: Batching): Promise<void> {
  this.running = false;
  return Promise.resolve();
}

function enqueueOperation(this: Batching, operation: Operation): Promise<unknown> {
  if (!this.turn) setImmediate(() => void flush(this));
  const turn = (this.turn ??= []);
  return new Promise((resolve, reject) => turn.push({ operation, resolve, reject }));
}

async function flush(batching: Batching): Promise<void> {
  const turn = batching.turn ?? [];
  batching.turn = undefined;
  try {
    const results: unknown[] = await batching.store.batch(turn.map(({ operation }) => operation));
    turn.forEach(({ resolve }, i) => resolve(results[i]));
  } catch (error) {
    for (const { reject } of turn) reject(error);
  }
}
