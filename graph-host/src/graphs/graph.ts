import type { BaseCheckpointSaver, BaseStore, CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StateSnapshot } from "@langchain/langgraph";

/** Subset of LangGraph's Pregel class that the host uses, without its type parameters. */
export interface Graph {
  checkpointer?: BaseCheckpointSaver | boolean | undefined;
  store?: BaseStore | undefined;
  interruptBefore?: Breakpoints;
  interruptAfter?: Breakpoints;
  channels: Record<string, unknown>;
  nodes: Record<string, unknown>;
  /** Definition of the graph; the functional API has none. */
  builder?: Record<string, unknown>;
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, options: object): AsyncIterable<StreamEvent>;
  getState(config: RunnableConfig, options?: { subgraphs?: boolean }): Promise<StateSnapshot>;
  getStateHistory(config: RunnableConfig, options?: CheckpointListOptions): AsyncIterable<StateSnapshot>;
  bulkUpdateState(config: RunnableConfig, supersteps: { updates: StateUpdate[] }[]): Promise<RunnableConfig>;
  getGraphAsync(config: object): Promise<{ toJSON(): { nodes: unknown[]; edges: { conditional?: boolean }[] } }>;
  getSubgraphsAsync(namespace?: string, recurse?: boolean): AsyncIterable<[string, Graph]>;
}

export type Breakpoints = "*" | string[] | undefined;

export interface StateUpdate {
  values?: unknown;
  asNode?: string;
}

export interface StreamEvent {
  event: string;
  run_id: string;
  tags?: string[];
  data: { chunk?: unknown };
}

/**
 * Returns the graph of one run: the user's object with the run's saver and store in place of those it was compiled
 * with. It is a derived object, so that the user's own is never changed and concurrent runs do not interfere. Subgraphs
 * take the saver from the run's config, including those compiled with `checkpointer: true`.
 */
export function bindGraph(graph: Graph, checkpointer: BaseCheckpointSaver, store: BaseStore): Graph {
  const bound = Object.create(graph) as Graph;
  bound.checkpointer = checkpointer;
  bound.store = store;
  return bound;
}

function isGraph(value: unknown): value is Graph {
  return typeof value === "object" && value !== null && "lg_is_pregel" in value && value.lg_is_pregel === true;
}

/** Resolves a graph from a module's export, which may be a promise, a `StateGraph` or a `createAgent` wrapper. */
export async function toGraph(exported: unknown): Promise<Graph | undefined> {
  let value = await exported;
  if (typeof value !== "object" || value === null) return undefined;
  // the wrapper forwards some of the graph's methods, but not its fields
  if ("graph" in value && isGraph(value.graph)) return value.graph;
  if (isGraph(value)) return value;
  if ("compile" in value && typeof value.compile === "function") value = await value.compile();
  return isGraph(value) ? value : undefined;
}
