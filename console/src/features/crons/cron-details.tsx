import { Code, Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { type ReactNode, useState } from "react";

import { agentApi } from "../../api/clients.ts";
import { spacesQuery } from "../../app/queries.ts";
import { EditAndDelete } from "../../ui/edit-and-delete.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { utc } from "../runs/run-record.ts";
import { CronForm } from "./cron-form.tsx";
import { EnabledSwitch } from "./enabled-switch.tsx";
import { NextTimes } from "./next-times.tsx";
import { RunNowButton } from "./run-now-button.tsx";
import { type Cron, cronQuery, cronRunsQuery, cronTracesQuery } from "./queries.ts";

/** One cron: its next times, the runs that it started, and its input. */
export function CronDetails({ server, id, onClose }: { server: string; id: string; onClose: () => void }) {
  useFocusBack();
  const { data: cron, error, refetch } = useQuery(cronQuery(server, id));
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Cron" closeButtonProps={{ title: "Close" }}>
      <LoadState query={{ data: cron, error, refetch }} />
      {cron && <Details server={server} cron={cron} onDeleted={onClose} />}
    </Drawer>
  );
}

function Details({ server, cron, onDeleted }: { server: string; cron: Cron; onDeleted: () => void }) {
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const [isEditing, setEditing] = useState(false);
  const remove = () =>
    confirm({
      title: "Delete this cron?",
      body: "It starts no more runs. Runs that it has already started are kept.",
      action: "Delete",
      async run() {
        await agentApi(server).DELETE("/runs/crons/{cron_id}", { params: { path: { cron_id: cron.cron_id } } });
        onDeleted();
        queryClient.removeQueries({ queryKey: ["agent", server, "crons", cron.cron_id] });
        await queryClient.invalidateQueries({ queryKey: ["agent", server, "crons"] });
      },
    });
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="xs">
          <Code fz="sm">{cron.schedule}</Code>
          <Text size="sm">{cron.timezone ?? "UTC"}</Text>
        </Group>
        <Group gap="xs">
          <EnabledSwitch server={server} cron={cron} />
          <RunNowButton server={server} cronId={cron.cron_id} />
          <EditAndDelete size="xs" onEdit={() => setEditing(true)} onDelete={remove} />
        </Group>
      </Group>
      <Group gap={2} wrap="nowrap">
        <Text size="xs" ff="monospace" c="dimmed">
          {cron.cron_id}
        </Text>
        <CopyButton value={cron.cron_id} label="Copy ID" />
      </Group>
      {cron.enabled ? (
        <NextTimes schedule={cron.schedule} timezone={cron.timezone} endTime={cron.end_time} />
      ) : (
        <Text size="sm">Paused: no runs start until the cron is enabled.</Text>
      )}
      {cron.end_time !== null && (
        <Text size="sm">
          Ends <TimeText at={cron.end_time} />
        </Text>
      )}
      <RecentRuns server={server} cron={cron} />
      <Part title="Payload">
        <JsonView value={cron.payload} label="Payload" maxHeight="16rem" />
      </Part>
      <Part title="Metadata">
        <JsonView value={cron.metadata} label="Metadata" maxHeight="12rem" />
      </Part>
      {isEditing && (
        <CronForm server={server} cron={cron} onClose={() => setEditing(false)} onSaved={() => setEditing(false)} />
      )}
      {dialog}
    </Stack>
  );
}

function RecentRuns({ server, cron }: { server: string; cron: Cron }) {
  const { data: runs, error, refetch } = useQuery(cronRunsQuery(server, cron));
  const hasTraces = useQuery(spacesQuery).data?.spaces.trace === true;
  const areDeleted = cron.thread_id === null && cron.on_run_completed === "delete";
  if (areDeleted && hasTraces) return <RecentTraces cron={cron} />;
  return (
    <Part title="Recent runs">
      <LoadState query={{ data: runs, error, refetch }} rows={2} />
      {runs?.length === 0 && (
        <Text size="sm" c="dimmed">
          {areDeleted ? "Each run is deleted with its thread when it ends." : "No runs yet."}
        </Text>
      )}
      {runs?.map(({ run_id: run, thread_id: threadId, status, created_at: at }) => (
        <Group key={run ?? threadId} gap="sm" py={3}>
          <StatusBadge status={status} />
          {run === null ? (
            <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId }} size="sm">
              Thread <ShortId id={threadId} />
            </AnchorLink>
          ) : (
            <AnchorLink
              to="/a/$server/threads/$threadId/runs/$runId"
              params={{ server, threadId, runId: run }}
              size="sm"
            >
              Run <ShortId id={run} />
            </AnchorLink>
          )}
          <TimeText at={at} c="dimmed" />
        </Group>
      ))}
    </Part>
  );
}

/** Traces of runs that are deleted with their threads when they end. */
function RecentTraces({ cron }: { cron: Cron }) {
  const { data: runs, error, refetch } = useQuery(cronTracesQuery(cron));
  return (
    <Part title="Recent traces">
      <Text size="sm" c="dimmed" mb={4}>
        Each run is deleted with its thread when it ends. Its trace is kept.
      </Text>
      <LoadState query={{ data: runs, error, refetch }} rows={2} />
      {runs?.length === 0 && <Text size="sm">No traces yet.</Text>}
      {runs?.map(({ id, status, start_time: at, session_id: projectId }) => (
        <Group key={id} gap="sm" py={3}>
          <StatusBadge status={status} />
          <AnchorLink
            to="/projects/$projectId/r/$runId"
            params={{ projectId: projectId!, runId: id! }}
            size="sm"
            ff="monospace"
          >
            {id!.slice(-12)}
          </AnchorLink>
          <TimeText at={utc(at)} c="dimmed" />
        </Group>
      ))}
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Text component="h3" size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {children}
    </section>
  );
}
