import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useRef } from "react";

import { spacesQuery } from "../../app/queries.ts";
import { useAgentServers } from "../../app/use-agent-servers.ts";
import { feedbackQuery, traceQuery } from "../traces/queries.ts";
import type { TraceTree } from "../traces/trace-tree.ts";
import { deliveriesQuery } from "../webhooks/queries.ts";
import { runCheckpointsQuery, runLogsQuery, runTraceQuery, threadRunQuery } from "./queries.ts";
import type { RunSources } from "./run-events.ts";

/** Limits on the number of the trace's runs on the axis, and on their depth below the root. */
const MAX_SPANS = 60;
const MAX_DEPTH = 2;

/** Reads a run from all sources. A source that cannot be read is left empty, and its error is listed in `missing`. */
export function useRunSources(server: string, threadId: string, runId: string) {
  const { data: about } = useQuery(spacesQuery);
  const hasTraces = about?.spaces.trace === true;
  const run = useQuery(threadRunQuery(server, threadId, runId));
  const checkpoints = useQuery({
    ...runCheckpointsQuery(server, threadId, runId, `${run.data?.status} ${run.data?.updated_at}`),
    enabled: run.data !== undefined,
  });
  const trace = useQuery({ ...runTraceQuery(runId), enabled: hasTraces && run.data !== undefined });
  const projectId = trace.data?.session_id ?? null;
  const tree = useQuery({ ...traceQuery(projectId ?? "", runId), enabled: projectId !== null });
  const feedback = useQuery({ ...feedbackQuery(runId), enabled: trace.data != null });
  const deliveries = useInfiniteQuery(deliveriesQuery(server, { run: runId }));
  const deploymentId = useAgentServers().servers.find(({ id }) => id === server)?.deploymentId ?? null;
  const logs = useQuery(runLogsQuery(deploymentId, run.data));
  const sources: RunSources | null = run.data
    ? {
        run: run.data,
        spans: tree.data ? spans(tree.data) : [],
        checkpoints: checkpoints.data ?? [],
        deliveries: deliveries.data?.pages.flat() ?? [],
        feedback: feedback.data ?? [],
        logs: logs.data ?? [],
      }
    : null;
  const parts = { checkpoints, trace, feedback, "webhook deliveries": deliveries, logs };
  const missing = Object.entries(parts).flatMap(([name, { error }]) => (error ? [{ name, error }] : []));
  // shown together at first: each would move those below it
  const complete = useRef<string>(undefined);
  const areLoaded = [run, checkpoints, trace, tree, feedback, deliveries, logs].every(({ isLoading }) => !isLoading);
  if (areLoaded && about) complete.current = runId;
  const isComplete = complete.current === runId;
  return { run, trace, sources, isComplete, projectId, deploymentId, missing, hasTraces };
}

/** Returns the upper runs of the trace in order of their start. */
function spans({ byId }: TraceTree): RunSources["spans"] {
  return [...byId.values()]
    .filter(({ depth }) => depth <= MAX_DEPTH)
    .toSorted((a, b) => a.start - b.start || a.depth - b.depth)
    .slice(0, MAX_SPANS)
    .map(({ id, name, start, end, error, depth }) => ({ id, name, start, end, error, depth }));
}
