import {
  Button,
  Group,
  List,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Timeline,
  Title,
  UnstyledButton,
} from "@mantine/core";
import { IconPlayerStop, IconRotate } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { controlApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { DeploymentLog } from "./deployment-log.tsx";
import { describeChanges, describeRedeploy, listChanges, shownStatus } from "./revision-changes.ts";
import { type Deployment, isInProgress, type Revision, revisionsQuery, SOURCE_NAMES } from "./queries.ts";
import classes from "./revisions.module.css";
import type { LogKind } from "./tabs.ts";

const route = getRouteApi("/_shell/deployments/$deploymentId");

/** All revisions, newest first, and the log of the chosen one beside them. */
export function Revisions({ deployment }: { deployment: Deployment }) {
  const { revision: selectedId } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: revisions, error, refetch } = useQuery(revisionsQuery(deployment.id));
  if (!revisions) return <LoadState query={{ error, refetch }} />;
  const chosen = revisions.find(({ id }) => id === selectedId) ?? revisions[0];
  if (!chosen) {
    return <Empty title="No revisions yet">Deploy a project with “New revision”.</Empty>;
  }
  return (
    <div className={classes["columns"]}>
      <nav aria-label="Revisions">
        <Timeline active={-1} bulletSize={14} lineWidth={2}>
          {revisions.map((revision, index) => (
            <Timeline.Item key={revision.id}>
              <UnstyledButton
                onClick={() => void navigate({ search: (before) => ({ ...before, revision: revision.id }) })}
                aria-current={revision === chosen || undefined}
                p={6}
                mt={-8}
                w="100%"
                style={{
                  borderRadius: 4,
                  background: revision === chosen ? "var(--mantine-color-default-hover)" : undefined,
                }}
              >
                <Group gap="xs">
                  <Text span size="sm" fw={600} className="numbers">
                    {revision.number}
                  </Text>
                  <StatusBadge status={shownStatus(deployment, revision)} />
                  {revision.id === deployment.active_revision_id && (
                    <Text size="xs" fw={600}>
                      active
                    </Text>
                  )}
                  <TimeText at={revision.created_at} c="dimmed" />
                </Group>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {describeRedeploy(revision, revisions) ?? describeChanges(revision, revisions[index + 1])}
                </Text>
                <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                  <Origin revision={revision} />
                </Text>
              </UnstyledButton>
            </Timeline.Item>
          ))}
        </Timeline>
      </nav>
      <RevisionDetails
        key={chosen.id}
        deployment={deployment}
        revision={chosen}
        previous={revisions[revisions.indexOf(chosen) + 1]}
      />
    </div>
  );
}

/** Author, duration and source of a revision, in one line. */
function Origin({ revision }: { revision: Revision }) {
  const { source, source_revision_config: config, created_by: author } = revision;
  const commit = config.repo_commit_sha?.slice(0, 10);
  const place = config.image_uri ?? (config.repo_ref && `${config.repo_ref}${commit ? ` at ${commit}` : ""}`);
  const facts = [`${SOURCE_NAMES[source]}${place ? ` ${place}` : ""}`];
  if (author) facts.unshift(`by ${author}`);
  return (
    <>
      {facts.join(" · ")} · <Took revision={revision} />
    </>
  );
}

/** How long a revision took from its creation to its end, or takes until now. */
function Took({ revision: { created_at: from, finished_at: to } }: { revision: Revision }) {
  const now = useNow();
  const ms = (to === null ? now : Date.parse(to)) - Date.parse(from);
  return <span className="numbers">{to === null ? `for ${duration(ms)}` : duration(ms)}</span>;
}

interface DetailsProps {
  deployment: Deployment;
  revision: Revision;
  previous: Revision | undefined;
}

function RevisionDetails({ deployment, revision, previous }: DetailsProps) {
  const { log } = route.useSearch();
  const navigate = route.useNavigate();
  const moves = isInProgress(revision);
  const kind: LogKind =
    log ?? (/^(DEPLOYED|DEPLOYING|DEPLOY_FAILED|UNKNOWN)$/.test(revision.status) ? "deploy" : "build");
  return (
    <Paper withBorder p="sm" miw={0}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2} size="h5">
              Revision {revision.number}
            </Title>
            <StatusBadge status={shownStatus(deployment, revision)} />
            <Text size="xs" ff="monospace" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {revision.id}
            </Text>
            <CopyButton value={revision.id} label="Copy ID" />
          </Group>
          <RevisionActions deployment={deployment} revision={revision} />
        </Group>
        <Changes revision={revision} previous={previous} />
        {revision.status_message !== null && (
          <Text
            size="sm"
            style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
            role={/FAILED/.test(revision.status) ? "alert" : undefined}
          >
            {revision.status_message}
          </Text>
        )}
        <SegmentedControl
          size="xs"
          aria-label="Log"
          data={[
            { value: "build", label: "Build log" },
            { value: "deploy", label: "Server log" },
          ]}
          value={kind}
          onChange={(value) => void navigate({ search: (before) => ({ ...before, log: value as LogKind }) })}
          style={{ alignSelf: "start" }}
        />
        {/* the last lines of a failed revision follow its status */}
        <DeploymentLog
          key={kind}
          deploymentId={deployment.id}
          revisionId={revision.id}
          kind={kind}
          isLive={
            moves || revision.id === deployment.active_revision_id || revision.id === deployment.latest_revision_id
          }
        />
      </Stack>
    </Paper>
  );
}

/** Differences of the revision from the previous one, and the names of its variables. */
function Changes({ revision, previous }: Pick<DetailsProps, "revision" | "previous">) {
  const changes = previous ? listChanges(revision, previous) : ["first revision"];
  const { variables } = revision.made_from;
  return (
    <section aria-label="Changes">
      <Title order={3} size="h6" mb={2}>
        {previous ? `Changes from revision ${previous.number}` : "Changes"}
      </Title>
      {changes.length === 0 ? (
        <Text size="sm" c="dimmed">
          None: same source, variables and resources.
        </Text>
      ) : (
        <List size="sm" spacing={0}>
          {changes.map((change) => (
            <List.Item key={change}>{change}</List.Item>
          ))}
        </List>
      )}
      {variables !== null && variables.length > 0 && (
        <Text size="xs" c="dimmed" mt={2}>
          Variables: {variables.join(", ")}
        </Text>
      )}
    </section>
  );
}

function RevisionActions({ deployment, revision }: { deployment: Deployment; revision: Revision }) {
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const params = { path: { deployment_id: deployment.id, revision_id: revision.id } };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["control", "deployments", deployment.id] });
  const interrupt = useMutation({
    mutationFn: () =>
      controlApi.POST("/v2/deployments/{deployment_id}/revisions/{revision_id}/interruption", { params }),
    onError: notifyFailure("Could not interrupt the revision"),
    onSettled: refresh,
  });
  const isRollback = revision.status === "DEPLOYED" && revision.id !== deployment.active_revision_id;
  const verb = isRollback ? "Roll back" : "Redeploy";
  const redeploy = () =>
    confirm({
      title: `${verb} ${isRollback ? "to revision" : "revision"} ${revision.number}?`,
      body: "This creates a new revision from its build and environment. The active revision keeps serving until the new one is healthy.",
      action: verb,
      isHarmless: true,
      async run() {
        await controlApi.POST("/v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy", { params });
        await refresh();
      },
    });
  return (
    <Group gap="xs">
      {isInProgress(revision) && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          loading={interrupt.isPending}
          onClick={() => interrupt.mutate()}
        >
          Cancel
        </Button>
      )}
      {!isInProgress(revision) && (
        <Button size="xs" variant="default" leftSection={<IconRotate size={14} aria-hidden />} onClick={redeploy}>
          {verb}
        </Button>
      )}
      {dialog}
    </Group>
  );
}
