import type { RunKwargs, RunStart } from "../../../host-kit/src/host-protocol.ts";

/** LangGraph's key of a run that continues at the thread's checkpoint, although its caller has sent the input again. */
const RESUMING = "__pregel_resuming";

/**
 * Builds the options for LangGraph's `stream`. Keys without a value are omitted: an explicit undefined would hide what
 * the user has bound to the graph by `withConfig`.
 */
export function runOptions(start: RunStart, kwargs: RunKwargs, langgraphVersion: string) {
  const { config } = kwargs;
  const options: Record<string, unknown> = {
    configurable: {
      ...publicConfigurable(config.configurable),
      ...(isResuming(config.configurable) && { [RESUMING]: true }),
      thread_id: start.thread_id,
      run_id: start.run_id,
      graph_id: start.graph_id,
      assistant_id: start.assistant_id,
    },
    // stored in every checkpoint of the run
    metadata: {
      ...kwargs.trace,
      ...config.metadata,
      run_attempt: start.attempt,
      langgraph_version: langgraphVersion,
      langgraph_plan: "developer",
      langgraph_host: "self-hosted",
      ...(process.env.LANGGRAPH_API_URL && { langgraph_api_url: process.env.LANGGRAPH_API_URL }),
    },
    runId: start.run_id,
    durability: kwargs.durability ?? "sync",
    tags: config.tags,
    recursionLimit: config.recursion_limit,
    maxConcurrency: config.max_concurrency,
    runName: config.run_name,
    context: kwargs.context ?? undefined,
    interruptBefore: kwargs.interrupt_before ?? undefined,
    interruptAfter: kwargs.interrupt_after ?? undefined,
  };
  for (const key of Object.keys(options)) if (options[key] === undefined) delete options[key];
  return options as RunOptions;
}

/**
 * Removes what callers may not configure: LangGraph's own keys, and checkpoint keys without a value, whose mere
 * presence LangGraph takes for time travel.
 */
export function publicConfigurable(configurable: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configurable).filter(
      ([key, value]) => !key.startsWith("__pregel_") && !(key.startsWith("checkpoint_") && value == null),
    ),
  );
}

/** Whether a remote graph sends the run as the node of a graph that is resumed. `discarded_questions` asks the same. */
export const isResuming = (configurable: Record<string, unknown> = {}): boolean => configurable[RESUMING] === true;

export interface RunOptions {
  configurable: Record<string, unknown>;
  metadata: Record<string, unknown>;
  interruptBefore?: "*" | string[];
  interruptAfter?: "*" | string[];
  [key: string]: unknown;
}
