import { Anchor } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import { spacesQuery } from "../../app/queries.ts";
import { notifyFailure } from "../../ui/notify.ts";

/** Link from a run of an agent server to its trace, which has the same id; its project is looked up on demand. */
export function TraceLink({ runId, label = "Trace" }: { runId: string; label?: string }) {
  const { data: about } = useQuery(spacesQuery);
  const navigate = useNavigate();
  const open = useMutation({
    mutationFn: async () => {
      const params = { path: { run_id: runId } };
      const { session_id: projectId } = await data(traceApi.GET("/api/v1/runs/{run_id}", { params }));
      await navigate({ to: "/projects/$projectId/r/$runId", params: { projectId: String(projectId), runId } });
    },
    onError: (error) =>
      notifyFailure("Could not open the trace")(
        error instanceof ApiError && error.status === 404
          ? new Error("No trace of this run has arrived yet. If tracing is on, it arrives within seconds.")
          : error,
      ),
  });
  if (!about?.spaces.trace) return null;
  return (
    <Anchor component="button" type="button" size="xs" onClick={() => open.mutate()}>
      {label}
    </Anchor>
  );
}
