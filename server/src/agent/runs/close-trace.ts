import type { LostTrace, RunKwargs } from "../../../../host-kit/src/host-protocol.ts";
import type { ActiveRun } from "./active-run.ts";
import type { TracedRun } from "./sql.ts";

/** Data with which another host closes the trace of a run whose own host is gone. */
export function lostTrace(run: ActiveRun, error: string | null): LostTrace {
  const started_at = new Date(performance.timeOrigin + run.claimedAt).toISOString();
  return toLostTrace({ ...run.start, kwargs: run.kwargs, started_at }, error);
}

/** The same for a run whose server is gone. */
export function toLostTrace(run: TracedRun, error: string | null): LostTrace {
  const { config, input } = JSON.parse(run.kwargs) as RunKwargs;
  const configurable = config?.configurable ?? {};
  const { langsmith_project: project } = configurable;
  const { run_id, thread_id, assistant_id, graph_id, attempt } = run;
  return {
    run_id,
    name: typeof config?.run_name === "string" ? config.run_name : "LangGraph",
    start_time: run.started_at,
    inputs: input,
    error,
    ...(typeof project === "string" && { project }),
    metadata: {
      ...plain(configurable),
      ...config?.metadata,
      run_id,
      thread_id,
      assistant_id,
      graph_id,
      run_attempt: attempt,
    },
  };
}

/** Selects the values that LangGraph itself puts into a trace's metadata: scalars, without internal keys. */
function plain(configurable: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configurable).filter(
      ([key, value]) =>
        !key.startsWith("__") && !key.startsWith("langsmith_") && /^(string|number|boolean)$/.test(typeof value),
    ),
  );
}
