import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { spacesQuery } from "../../app/queries.ts";
import { readMetadata } from "../runs/run-record.ts";
import { feedbackQuery, type GivenFeedback } from "../threads/queries.ts";

/** Number of the conversation's newest runs whose costs and feedback are read. */
const MAX_RUNS = 10;
/** A trace arrives shortly after its run; polling for it stops after some tries. */
const ARRIVAL_MS = 2_000;
const MAX_TRIES = 8;

const SELECT = ["id", "total_cost", "extra", "status"] as const;

/** Query for the costs in dollars of a run's LLM calls, by step; empty until the trace has arrived. */
const stepCostsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run-step-costs", runId],
    async queryFn({ signal }): Promise<[step: number, cost: number][]> {
      const body = { trace: runId, run_type: "llm" as const, limit: 100, select: [...SELECT] };
      const { runs } = await data(traceApi.POST("/api/v1/runs/query", { body, signal }));
      const costs = new Map<number, number>();
      for (const run of runs) {
        const { langgraph_step: step } = readMetadata(run);
        if (typeof step !== "number" || run.total_cost == null) continue;
        costs.set(step, (costs.get(step) ?? 0) + Number(run.total_cost));
      }
      return [...costs];
    },
    refetchInterval: ({ state }) =>
      (state.data ?? []).length === 0 && state.dataUpdateCount < MAX_TRIES ? ARRIVAL_MS : false,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export interface ReplyFacts {
  /** Returns the cost in dollars of a run's step; null when it is unknown. */
  getCost: (runId: string, step: number) => number | null;
  /** Feedback on a run; null where feedback cannot be given. */
  getFeedback: (runId: string) => GivenFeedback[] | null;
}

/** Reads the costs and feedback of the runs that wrote a conversation's messages from their traces. */
export function useReplyFacts(runIds: readonly string[]): ReplyFacts {
  const { data: about } = useQuery(spacesQuery);
  const isTraced = about?.spaces.trace === true;
  const newest = isTraced ? runIds.slice(-MAX_RUNS) : [];
  const costs = useQueries({ queries: newest.map(stepCostsQuery) });
  const feedback = useQuery({ ...feedbackQuery([...newest]), enabled: newest.length > 0 });
  return {
    getCost(runId, step) {
      const found = costs[newest.indexOf(runId)]?.data?.find(([candidate]) => candidate === step);
      return found?.[1] ?? null;
    },
    getFeedback: (runId) =>
      newest.includes(runId) ? (feedback.data ?? []).filter(({ run_id: id }) => id === runId) : null,
  };
}
