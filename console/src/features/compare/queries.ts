import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { Run } from "../runs/run-record.ts";

/** Query for the newest other runs with the same name in the same project. */
export const similarRunsQuery = (like: Run | undefined) =>
  queryOptions({
    queryKey: ["similar-runs", like?.id],
    queryFn: async ({ signal }) => {
      const filter = `eq(name, ${JSON.stringify(like!.name)})`;
      const select = ["name", "status", "start_time", "end_time", "inputs_preview"] as const;
      const body = { session: like!.session_id, filter, limit: 11, select: [...select] };
      const { runs } = await data(traceApi.POST("/api/v1/runs/query", { body, signal }));
      return runs.filter((run) => run.id !== like!.id).slice(0, 10);
    },
    enabled: like !== undefined,
  });
