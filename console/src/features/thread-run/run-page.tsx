import { Alert, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { duration } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { assistantsQuery } from "../threads/queries.ts";
import { FailureAlert } from "../threads/failure-alert.tsx";
import { readFailure } from "../threads/run-failure.ts";
import { readMetadata } from "../runs/run-record.ts";
import { EventTable } from "./event-table.tsx";
import type { Run } from "./queries.ts";
import { isActive, runAxis, runEvents } from "./run-events.ts";
import { TimeAxis } from "./time-axis.tsx";
import { useRunSources } from "./use-run-sources.ts";

const route = getRouteApi("/_shell/a/$server/threads/$threadId_/runs/$runId");

/** Page of a run, with its checkpoints, trace, webhooks, feedback, logs and revision on one time axis. */
export function RunPage() {
  const { server, threadId, runId } = route.useParams();
  const read = useRunSources(server, threadId, runId);
  const { run, trace, sources, isComplete, projectId, deploymentId, missing, hasTraces } = read;
  const [selected, setSelected] = useState<string>();
  const now = useNow();
  const assistants = useQuery(assistantsQuery(server));
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === run.data?.assistant_id);
  const title = assistant ? `Run of ${assistant.name}` : `Run ${runId.slice(-8)}`;
  if (!run.data || !sources) {
    return (
      <Page title={title} isLate>
        <LoadState query={{ data: sources && run.data, error: run.error, refetch: run.refetch }} />
      </Page>
    );
  }
  const events = runEvents(sources);
  const axis = runAxis(events, now);
  const failure = readFailure((run.data as { error?: unknown }).error);
  const select = (key: string) => {
    setSelected(key);
    document.getElementById(`event-${key}`)?.scrollIntoView({ block: "center" });
  };
  return (
    <Page
      title={title}
      isLate
      actions={
        <>
          {projectId !== null && (
            <ButtonLink to="/projects/$projectId/r/$runId" params={{ projectId, runId }} size="xs" variant="default">
              Trace
            </ButtonLink>
          )}
          <ButtonLink to="/a/$server/threads/$threadId" params={{ server, threadId }} size="xs" variant="default">
            Thread
          </ButtonLink>
          <ButtonLink to="/a/$server/playground" params={{ server }} search={{ thread: threadId }} size="xs">
            Open in playground
          </ButtonLink>
        </>
      }
    >
      <Stack gap="sm">
        <Facts run={run.data} server={server} assistant={assistant} />
        {failure && <FailureAlert title="The run failed" failure={failure} />}
        {missing.map(({ name, error }) => (
          <Alert key={name} color="warning" title={`Could not load the ${name}`} role="status">
            {error.message}
          </Alert>
        ))}
        {isComplete ? (
          <>
            <TimeAxis events={events} axis={axis} selected={selected} onSelect={select} />
            <Missing
              hasTraces={hasTraces}
              traceArrived={trace.data != null}
              deploymentId={deploymentId}
              revisionId={readRevision(trace.data) ?? sources.logs[0]?.revision_id ?? null}
            />
            <section aria-label="Events of the run">
              <Title order={2} size="h5" mb={4}>
                Events
              </Title>
              <EventTable
                events={events}
                from={axis.from}
                selected={selected}
                places={{ server, threadId, projectId, deploymentId }}
              />
            </section>
          </>
        ) : (
          <Loading rows={12} />
        )}
      </Stack>
    </Page>
  );
}

/** Returns the revision that LangChain's tracer recorded with the run. */
function readRevision(trace: { extra?: unknown } | null | undefined): string | null {
  const { revision_id: id } = trace ? readMetadata(trace) : {};
  return typeof id === "string" && id !== "" ? id : null;
}

interface FactsProps {
  run: Run;
  server: string;
  assistant: { assistant_id: string; name: string } | undefined;
}

function Facts({ run, server, assistant }: FactsProps) {
  const now = useNow();
  const end = isActive(run.status) ? now : Date.parse(run.updated_at);
  return (
    <Group gap="sm" aria-label="Metrics">
      <StatusBadge status={run.status} />
      <Group gap={2} wrap="nowrap">
        <ShortId id={run.run_id} />
        <CopyButton value={run.run_id} label="Copy run ID" />
      </Group>
      {assistant && (
        <AnchorLink
          to="/a/$server/assistants/$assistantId"
          params={{ server, assistantId: assistant.assistant_id }}
          size="sm"
        >
          {assistant.name}
        </AnchorLink>
      )}
      <Text size="sm" className="numbers">
        {duration(end - Date.parse(run.created_at))}{" "}
        <Text span inherit c="dimmed">
          from creation to end
        </Text>
      </Text>
      <Text size="sm" c="dimmed">
        created <TimeText at={run.created_at} inherit />
      </Text>
    </Group>
  );
}

/** Revision that executed the run, and notes about missing information. */
function Missing({
  hasTraces,
  traceArrived,
  deploymentId,
  revisionId,
}: {
  hasTraces: boolean;
  traceArrived: boolean;
  deploymentId: string | null;
  revisionId: string | null;
}) {
  return (
    <Group gap="md">
      {deploymentId === null ? null : revisionId === null ? (
        <Text size="sm" c="dimmed">
          Revision unknown: neither the trace nor the log contains it.
        </Text>
      ) : (
        <Text size="sm">
          Revision{" "}
          <AnchorLink
            to="/deployments/$deploymentId"
            params={{ deploymentId }}
            search={{ tab: "revisions", revision: revisionId }}
            inherit
            ff="monospace"
          >
            {revisionId.slice(-8)}
          </AnchorLink>
        </Text>
      )}
      {hasTraces && !traceArrived && (
        <Text size="sm" c="dimmed" role="status">
          No trace of this run has arrived yet.
        </Text>
      )}
    </Group>
  );
}
