import { Alert, Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { useConfirm } from "../../ui/confirm.tsx";
import { count, money } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Progress } from "../../ui/progress.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { ClusterPanel } from "./cluster-panel.tsx";
import { ClusterTree } from "./cluster-tree.tsx";
import classes from "./insights.module.css";
import { cancelJob, type Cluster, deleteJob, isOpen, jobQuery, type JobWithClusters, resumeJob } from "./queries.ts";

interface JobReportProps {
  projectId: string;
  jobId: string;
  clusterId: string | undefined;
  onCluster: (clusterId: string | undefined) => void;
}

/** A job: its progress, what it found in words, and the tree of its clusters. */
export function JobReport({ projectId, jobId, clusterId, onCluster }: JobReportProps) {
  const found = useQuery(jobQuery(projectId, jobId));
  if (!found.data) return <LoadState query={found} rows={10} />;
  const job = found.data;
  const clusters = job.clusters as Cluster[];
  const open = clusters.find(({ id }) => id === clusterId);
  return (
    <Stack gap="md">
      <Summary projectId={projectId} job={job} />
      {clusters.length > 0 && (
        <div className={classes["columns"]}>
          <ClusterTree clusters={clusters} openId={open?.id} onOpen={onCluster} />
          {open ? (
            <ClusterPanel key={open.id} projectId={projectId} jobId={jobId} cluster={open} />
          ) : (
            <Text size="sm" c="dimmed" p="md">
              Select a group to see its runs.
            </Text>
          )}
        </div>
      )}
    </Stack>
  );
}

const STAGES: Record<string, string> = {
  sample: "Sampling runs",
  embed: "Reading and embedding runs",
  cluster: "Grouping",
  name: "Naming the groups",
  measure: "Counting",
  done: "Done",
};

function Summary({ projectId, job }: { projectId: string; job: JobWithClusters }) {
  const { progress, report, error } = job;
  const points = report?.key_points ?? [];
  return (
    <Stack gap="xs">
      <Group gap="sm" wrap="wrap">
        <Title order={2} size="h5">
          {report?.title ?? job.name}
        </Title>
        <StatusBadge status={job.state} />
        <Text size="xs" c="dimmed" className="numbers">
          {count(job.sampled)} sampled · {money(job.spent_usd)} spent · <TimeText at={job.created_at} />
        </Text>
        <JobActions projectId={projectId} job={job} />
      </Group>
      {isOpen(job) && (
        <Progress label="Progress" done={doneOf(job)} total={totalOf(job)}>
          {job.state === "queued" ? "Waiting for a worker" : STAGES[progress.stage]}
        </Progress>
      )}
      {error !== null && (
        <Alert color={job.state === "stopped" ? "warning" : "danger"} role="alert" style={{ overflowWrap: "anywhere" }}>
          {error}
        </Alert>
      )}
      {points.length > 0 && (
        <List size="sm" spacing={2}>
          {points.map((point) => (
            <List.Item key={point} style={{ overflowWrap: "anywhere" }}>
              {point}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}

/** Runs that are read, and names that are given, as one measure. */
const doneOf = ({ options, progress }: JobWithClusters): number =>
  progress.embedded + (options["summarize"] === true ? progress.summarized : 0) + progress.named;
const totalOf = ({ options, progress }: JobWithClusters): number | null =>
  progress.sampled === 0
    ? null
    : progress.sampled * (options["summarize"] === true ? 2 : 1) + Math.max(progress.clusters, 1);

function JobActions({ projectId, job }: { projectId: string; job: JobWithClusters }) {
  const client = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const refresh = () => client.invalidateQueries({ queryKey: ["insights", projectId] });
  const cancel = useMutation({
    mutationFn: () => cancelJob(projectId, job.id),
    onSettled: refresh,
    onError: notifyFailure("Could not cancel"),
  });
  const resume = useMutation({
    mutationFn: () => resumeJob(projectId, job.id, greaterBudget(job)),
    onSettled: refresh,
    onError: notifyFailure("Could not resume"),
  });
  const remove = () =>
    confirm({
      title: `Delete ${job.name}?`,
      body: "This deletes its groups. The runs stay.",
      action: "Delete",
      async run() {
        await deleteJob(projectId, job.id);
        await refresh();
      },
    });
  const budget = greaterBudget(job);
  return (
    <Group gap="xs" ms="auto">
      {isOpen(job) ? (
        <Button size="compact-xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      ) : (
        <>
          {job.state !== "success" && (
            <Button size="compact-xs" variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
              {budget === undefined ? "Resume" : `Resume with ${money(budget)}`}
            </Button>
          )}
          <Button size="compact-xs" variant="default" onClick={remove}>
            Delete
          </Button>
        </>
      )}
      {dialog}
    </Group>
  );
}

/** Twice the budget that was too small. */
const greaterBudget = ({ stop_reason: reason, budget_usd: budget }: JobWithClusters): string | undefined =>
  reason === "budget" && budget !== null ? String(Number((2 * Number(budget)).toPrecision(6))) : undefined;
