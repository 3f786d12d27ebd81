import { Badge, Button, Group, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useConfirm } from "../../ui/confirm.tsx";
import { count, duration } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { QueuePicture } from "./queue-picture.tsx";
import { cancelRun, type Queue, queueQuery, type Reason } from "./queries.ts";

const route = getRouteApi("/_shell/a/$server/queue");

/** Beginnings of sentences that end with the time or the run that a run waits for. */
const WAIT_REASONS: Record<Reason, string> = {
  starts_later: "Scheduled to start",
  thread_busy: "Thread is busy with",
  behind_another: "Queued behind",
  no_server_has_graph: "No running server has this graph. The run fails when a server claims it.",
  concurrency_limit: "Limit of runs at a time reached for",
  throttled: "Rate limit reached for",
  no_free_slot: "All slots are in use. Add servers or increase N_JOBS_PER_WORKER.",
};

/** Active runs, pending runs with the reason why they wait, waits for timers and signals, and workers. */
export function QueuePage() {
  const { server } = route.useParams();
  const { data: queue, error, refetch } = useQuery(queueQuery(server));
  return (
    <Page title="Queue">
      {queue ? (
        <Stack gap="lg">
          <Metrics queue={queue} />
          <QueuePicture queue={queue} server={server} />
          <Servers queue={queue} />
          <Waiting queue={queue} server={server} />
          <Running queue={queue} server={server} />
          <Waits queue={queue} server={server} />
        </Stack>
      ) : (
        <LoadState query={{ error, refetch }} title="Could not load the queue" />
      )}
    </Page>
  );
}

function Metrics({ queue }: { queue: Queue }) {
  const now = useNow();
  const oldest = queue.oldest_pending_at === null ? null : Math.max(0, now - Date.parse(queue.oldest_pending_at));
  const alive = queue.servers.filter(({ is_alive }) => is_alive).length;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
      <Metric label="Waiting" value={count(queue.counts.pending)} />
      <Metric label="Running" value={count(queue.counts.running)} />
      <Metric label="Longest wait" value={oldest === null ? "–" : duration(oldest)} />
      <Metric label="Healthy servers" value={`${alive} of ${queue.servers.length}`} />
    </SimpleGrid>
  );
}

function Metric({ label, value }: { label: string; value: string }) {
  return (
    <Paper withBorder p="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fz="xl" fw={700} className="numbers">
        {value}
      </Text>
    </Paper>
  );
}

function Servers({ queue }: { queue: Queue }) {
  return (
    <section aria-label="Servers">
      <Title order={2} size="h5" mb="xs">
        Servers
      </Title>
      <SimpleTable
        label="Servers"
        rows={queue.servers}
        rowKey={({ server_id: id }) => id}
        columns={[
          {
            title: "Host",
            cell: ({ host_name: host, is_this: isThis }) => (
              <Group gap={6}>
                <Text size="sm">{host}</Text>
                {isThis && <Badge variant="default">This server</Badge>}
              </Group>
            ),
          },
          {
            title: "State",
            width: 120,
            cell: ({ is_alive: isAlive }) => <Text size="sm">{isAlive ? "Healthy" : "Unresponsive"}</Text>,
          },
          {
            title: "Running",
            width: 110,
            align: "right",
            cell: ({ running, slots }) => (
              <Text size="sm" className="numbers">
                {slots === null ? running : `${running} of ${slots}`}
              </Text>
            ),
          },
          { title: "Last heartbeat", width: 120, cell: ({ heartbeat_at: at }) => <TimeText at={at} /> },
          { title: "Started", width: 120, cell: ({ started_at: at }) => <TimeText at={at} /> },
          {
            title: "Graphs",
            cell: ({ graphs }) => (
              <Text size="sm" lineClamp={1} title={graphs?.join(", ")}>
                {graphs === null ? "unknown" : graphs.join(", ") || "none"}
              </Text>
            ),
          },
        ]}
      />
    </section>
  );
}

function Waiting({ queue, server }: { queue: Queue; server: string }) {
  const { confirm, dialog } = useCancelRun(server);
  const hidden = queue.counts.pending - queue.waiting.length;
  return (
    <section aria-label="Waiting runs">
      {dialog}
      <Title order={2} size="h5" mb="xs">
        Waiting
      </Title>
      {queue.waiting.length === 0 ? (
        <Text size="sm" c="dimmed">
          No waiting runs. Runs that cannot start immediately appear here with the reason.
        </Text>
      ) : (
        <SimpleTable
          label="Waiting runs"
          minWidth={760}
          rows={queue.waiting}
          rowKey={({ run_id: id }) => id}
          columns={[
            { title: "Run", width: 220, cell: (run) => <RunLink server={server} run={run} /> },
            { title: "Reason", cell: (run) => <WaitReason run={run} server={server} /> },
            { title: "Waiting for", width: 110, cell: ({ waiting_seconds: seconds }) => duration(seconds * 1000) },
            { title: "Created", width: 110, cell: ({ created_at: at }) => <TimeText at={at} /> },
            { title: "", width: 90, cell: (run) => <CancelButton onClick={() => confirm(run)} /> },
          ]}
        />
      )}
      {hidden > 0 && (
        <Text size="xs" c="dimmed">
          and {count(hidden)} more
        </Text>
      )}
    </section>
  );
}

/** Interrupted threads that a timer or a signal resumes; they hold no slot. */
function Waits({ queue, server }: { queue: Queue; server: string }) {
  if (queue.waits.length === 0) return null;
  return (
    <section aria-label="Timers and signals">
      <Title order={2} size="h5" mb="xs">
        Timers and signals
      </Title>
      <SimpleTable
        label="Timers and signals"
        minWidth={760}
        rows={queue.waits}
        rowKey={({ thread_id: thread, interrupt_id: id }) => `${thread} ${id}`}
        columns={[
          {
            title: "Thread",
            width: 220,
            cell: ({ thread_id: threadId, graph_id: graph }) => (
              <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId }} size="sm">
                {graph ?? "Thread"} <ShortId id={threadId} />
              </AnchorLink>
            ),
          },
          {
            title: "Waits for",
            cell: ({ signal, until }) => (
              <Text size="sm">
                {signal !== null && `Signal ${signal}`}
                {until !== null && (signal === null ? "Timer, due " : ", or timer, due ")}
                {until !== null && <TimeText at={until} />}
              </Text>
            ),
          },
          { title: "Since", width: 110, cell: ({ since }) => (since === null ? "–" : <TimeText at={since} />) },
        ]}
      />
      {queue.counts.waits > queue.waits.length && (
        <Text size="xs" c="dimmed">
          and {count(queue.counts.waits - queue.waits.length)} more
        </Text>
      )}
    </section>
  );
}

function Running({ queue, server }: { queue: Queue; server: string }) {
  const { confirm, dialog } = useCancelRun(server);
  const hosts = new Map(queue.servers.map(({ server_id: id, host_name: name }) => [id, name]));
  if (queue.running.length === 0) return null;
  return (
    <section aria-label="Running runs">
      {dialog}
      <Title order={2} size="h5" mb="xs">
        Running
      </Title>
      <SimpleTable
        label="Running runs"
        minWidth={760}
        rows={queue.running}
        rowKey={({ run_id: id }) => id}
        columns={[
          { title: "Run", width: 220, cell: (run) => <RunLink server={server} run={run} /> },
          {
            title: "Server",
            cell: ({ server_id: id }) => (id === null ? "–" : (hosts.get(id) ?? "stopped server")),
          },
          {
            title: "Attempt",
            width: 90,
            align: "right",
            cell: ({ attempt, failures }) => (failures > 0 ? `${attempt} (${failures} lost)` : attempt),
          },
          { title: "Started", width: 110, cell: ({ started_at: at }) => <TimeText at={at} /> },
          {
            title: "",
            width: 90,
            cell: (run) => (run.cancelling ? "Cancelling" : <CancelButton onClick={() => confirm(run)} />),
          },
        ]}
      />
    </section>
  );
}

const CancelButton = ({ onClick }: { onClick: () => void }) => (
  <Button size="compact-xs" variant="default" onClick={onClick}>
    Cancel
  </Button>
);

interface RunRef {
  run_id: string;
  thread_id: string;
  graph_id?: string | null;
}

const RunLink = ({ server, run }: { server: string; run: RunRef }) => (
  <AnchorLink
    to="/a/$server/threads/$threadId/runs/$runId"
    params={{ server, threadId: run.thread_id, runId: run.run_id }}
    size="sm"
  >
    {run.graph_id ?? "Run"} <ShortId id={run.run_id} />
  </AnchorLink>
);

function WaitReason({ run, server }: { run: Queue["waiting"][number]; server: string }) {
  return (
    <Text size="sm">
      {WAIT_REASONS[run.reason]}
      {run.reason === "starts_later" && (
        <>
          {" "}
          <TimeText at={run.available_at} />
        </>
      )}
      {run.limited_by !== null && ` ${run.limited_by}`}
      {run.waits_for !== null && (
        <>
          {" "}
          <RunLink server={server} run={{ run_id: run.waits_for, thread_id: run.thread_id }} />
        </>
      )}
    </Text>
  );
}

function useCancelRun(server: string) {
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const cancel = useMutation({
    mutationFn: ({ thread_id: threadId, run_id: runId }: RunRef) => cancelRun(server, threadId, runId),
    onError: notifyFailure("Could not cancel the run"),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["queue", server] }),
  });
  return {
    dialog,
    confirm: (run: RunRef) =>
      confirm({
        title: "Cancel this run?",
        body: "The run ends as interrupted. State written by finished steps is kept.",
        action: "Cancel run",
        dismiss: "Go back",
        run: () => cancel.mutateAsync(run),
      }),
  };
}
