import { Button, Group, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { agentApi } from "../../api/clients.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { assistantsQuery, type Run, runsQuery, threadKey } from "./queries.ts";
import { TraceLink } from "./trace-link.tsx";

const STEP = 20;
/** Limit on listed runs; the API pages further. */
const MAX_LIMIT = 1000;

export function ThreadRuns({ server, threadId, isBusy }: { server: string; threadId: string; isBusy: boolean }) {
  const queryClient = useQueryClient();
  const [limit, setLimit] = useState(STEP);
  const runs = useQuery({ ...runsQuery(server, threadId, limit), refetchInterval: isBusy ? 1_500 : 5_000 });
  const assistants = useQuery(assistantsQuery(server));
  const names = new Map((assistants.data ?? []).map(({ assistant_id: id, name }) => [id, name]));
  const cancel = useMutation({
    mutationFn: (runId: string) => {
      const params = { path: { thread_id: threadId, run_id: runId }, query: { wait: "true" } };
      return agentApi(server).POST("/threads/{thread_id}/runs/{run_id}/cancel", { params: params as never });
    },
    onSuccess: () => notifyDone("Run cancelled. Its finished steps are kept."),
    onError: notifyFailure("Could not cancel the run"),
    onSettled: () => queryClient.invalidateQueries({ queryKey: threadKey(server, threadId) }),
  });
  if (!runs.data) return <LoadState query={runs} />;
  if (runs.data.length === 0) {
    return <Empty title="No runs yet">Start one in the playground or with an SDK.</Empty>;
  }
  return (
    <SimpleTable<Run>
      label="Runs"
      rows={runs.data}
      rowKey={(run) => run.run_id}
      minWidth={760}
      pages={{
        hasNextPage: runs.data.length >= limit && limit < MAX_LIMIT,
        isFetchingNextPage: runs.isFetching && runs.isPlaceholderData,
        fetchNextPage: () => setLimit(limit + STEP),
      }}
      columns={[
        { title: "Status", width: 130, cell: ({ status }) => <StatusBadge status={status} /> },
        {
          title: "Run",
          cell: ({ run_id: id }) => (
            <Group gap={2} wrap="nowrap">
              <AnchorLink
                to="/a/$server/threads/$threadId/runs/$runId"
                params={{ server, threadId, runId: id }}
                size="sm"
                ff="monospace"
                style={{ overflowWrap: "anywhere" }}
              >
                {id}
              </AnchorLink>
              <CopyButton value={id} label="Copy run ID" />
            </Group>
          ),
        },
        { title: "Assistant", width: 140, cell: (run) => <Text size="sm">{names.get(run.assistant_id) ?? "–"}</Text> },
        { title: "Created", width: 110, cell: (run) => <TimeText at={run.created_at} /> },
        {
          title: "Duration",
          width: 90,
          align: "right",
          cell: (run) => (
            <Text size="sm" className="numbers">
              {isOver(run) ? duration(runDuration(run)) : "–"}
            </Text>
          ),
        },
        {
          title: "",
          width: 150,
          cell: (run) => (
            <Group gap="xs" justify="flex-end" wrap="nowrap">
              {!isOver(run) && (
                <Button
                  size="compact-xs"
                  color="danger"
                  variant="outline"
                  loading={cancel.isPending && cancel.variables === run.run_id}
                  onClick={() => cancel.mutate(run.run_id)}
                >
                  Cancel
                </Button>
              )}
              <TraceLink runId={run.run_id} />
            </Group>
          ),
        },
      ]}
    />
  );
}

const isOver = ({ status }: Run) => status !== "pending" && status !== "running";
/** Returns the time from a run's creation to its end, including its wait. */
const runDuration = ({ created_at: from, updated_at: to }: Run) => new Date(to).getTime() - new Date(from).getTime();
