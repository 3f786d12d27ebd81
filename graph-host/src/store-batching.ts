import * as library from "@langchain/langgraph-checkpoint";
import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";

interface Pending {
  operation: Operation;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Batching {
  store: BaseStore;
  running: boolean;
  /** Operations of the current turn of the event loop. */
  turn?: Pending[];
}

/**
 * Replaces LangGraph's store batcher. LangGraph wraps the store of every run and subgraph in a batcher that polls each
 * millisecond for as long as the run lasts, and delays the run's end until its last poll. That is a tenth to a half of
 * the throughput of concurrent runs, whether they use the store or not. This one starts a batch on demand: all
 * operations of one turn of the event loop.
 *
 * It patches the library's class in this process; a version that looks different is left unchanged.
 */
export function batchStoreOnDemand(): void {
  // not in all versions
  const { AsyncBatchedStore } = library as Partial<typeof library>;
  const prototype = AsyncBatchedStore?.prototype as unknown as Record<string, unknown> | undefined;
  if (!prototype) return;
  if (typeof prototype.enqueueOperation !== "function" || typeof prototype.processBatchQueue !== "function") return;
  Object.assign(prototype, { start, stop, enqueueOperation, batch });
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

/** The library's own throws, so that `listNamespaces`, which calls it, would fail. */
function batch(this: Batching, operations: Operation[]): Promise<unknown[]> {
  return Promise.all(operations.map((operation) => enqueueOperation.call(this, operation)));
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
