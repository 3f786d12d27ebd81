import type { RunKwargs } from "../../../../host-kit/src/host-protocol.ts";
import type { Telemetry } from "../../base/telemetry/telemetry.ts";
import { parseTraceparent, type TraceContext } from "../../base/telemetry/trace-context.ts";
import type { ActiveRun } from "./active-run.ts";

/**
 * Records the spans of a run's attempt, as children of the request that created the run: its wait in the queue (first
 * attempt only, from the creation, so that it contains a requested delay), and its execution.
 */
export function recordRun(telemetry: Telemetry, run: ActiveRun, outcome: string): void {
  const { runId, threadId, graphId, attempt, claimedAt } = run;
  const endedAt = Date.now();
  const startedAt = endedAt - (performance.now() - claimedAt);
  const parent = requestOf(run);
  const context = telemetry.begin(parent);
  const attributes = {
    "heddle.run_id": runId,
    "heddle.thread_id": threadId,
    "heddle.assistant_id": run.start.assistant_id,
    "heddle.graph_id": graphId ?? undefined,
    "heddle.attempt": attempt,
  };
  if (attempt === 1) {
    const wait = { ...telemetry.begin(parent), traceId: context.traceId, isSampled: context.isSampled };
    const span = { name: "run queue", kind: "internal", startedAt: createdAt(runId), endedAt: startedAt } as const;
    telemetry.record(wait, parent, { ...span, hasFailed: false, attributes });
  }
  telemetry.record(context, parent, {
    name: `run ${graphId ?? ""}`.trimEnd(),
    kind: "internal",
    startedAt,
    endedAt,
    hasFailed: outcome === "error" || outcome === "timeout",
    attributes: { ...attributes, "heddle.outcome": outcome },
  });
}

function requestOf({ kwargs }: ActiveRun): TraceContext | undefined {
  const { trace } = JSON.parse(kwargs) as Partial<RunKwargs>;
  return parseTraceparent(trace?.traceparent);
}

/** Milliseconds since 1970: a UUIDv7 contains its creation time. */
const createdAt = (runId: string): number => Number.parseInt(runId.replaceAll("-", "").slice(0, 12), 16);
