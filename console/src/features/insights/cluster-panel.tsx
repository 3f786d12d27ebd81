import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconDatabasePlus, IconListCheck } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";

import { count, money, percent, seconds } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { type Cluster, type ClusterRun, clusterRunsQuery, readRunIds } from "./queries.ts";
import { compareInWords } from "./tree.ts";

const AddToDataset = lazy(async () => ({ default: (await import("../traces/add-to-dataset.tsx")).AddToDataset }));
const AddToQueue = lazy(async () => ({
  default: (await import("../annotation-queues/add-to-queue.tsx")).AddToQueue,
}));

interface ClusterPanelProps {
  projectId: string;
  jobId: string;
  cluster: Cluster;
}

/** A group: what it is about, its statistics, and its runs, the most typical first. */
export function ClusterPanel({ projectId, jobId, cluster }: ClusterPanelProps) {
  const { name, description, stats } = cluster;
  const comparison = compareInWords(name, stats);
  return (
    <Stack gap="sm" component="section" aria-label={name} style={{ minWidth: 0 }}>
      <div>
        <Title order={2} size="h4" style={{ overflowWrap: "anywhere" }}>
          {name}
        </Title>
        {cluster.named_by === "terms" && (
          <Text size="xs" c="dimmed">
            Named by its most frequent words
          </Text>
        )}
        {description !== "" && (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {description}
          </Text>
        )}
        {comparison !== null && <Text size="sm">{comparison}</Text>}
      </div>
      <Facts cluster={cluster} />
      <GroupActions projectId={projectId} jobId={jobId} clusterId={cluster.id} />
      <Runs projectId={projectId} jobId={jobId} clusterId={cluster.id} />
    </Stack>
  );
}

function Facts({ cluster: { stats, num_runs: runs } }: { cluster: Cluster }) {
  const facts: [string, string][] = [
    ["Share", percent(stats.share)],
    ["Runs", `${count(stats.estimated_runs)} (${count(runs)} sampled)`],
    ["Failed", percent(stats.error_rate)],
    ["Latency (P50)", seconds(stats.latency_p50)],
    ["Cost per run", money(stats.mean_cost)],
    ...Object.entries(stats.feedback ?? {})
      .slice(0, 4)
      .map(([key, { avg }]): [string, string] => [key, avg.toFixed(2)]),
  ];
  return (
    <Group gap="lg" component="dl" m={0}>
      {facts.map(([label, value]) => (
        <div key={label}>
          <Text size="xs" c="dimmed" component="dt">
            {label}
          </Text>
          <Text size="sm" className="numbers" component="dd" m={0}>
            {value}
          </Text>
        </div>
      ))}
    </Group>
  );
}

function GroupActions({ projectId, jobId, clusterId }: { projectId: string; jobId: string; clusterId: string }) {
  const [open, setOpen] = useState<{ kind: "queue" | "dataset"; ids: string[] } | null>(null);
  const read = useMutation({
    mutationFn: async (kind: "queue" | "dataset") =>
      setOpen({ kind, ids: await readRunIds(projectId, jobId, clusterId) }),
    onError: notifyFailure("Could not read the runs"),
  });
  const close = () => setOpen(null);
  return (
    <Group gap="xs">
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconListCheck size={14} aria-hidden />}
        onClick={() => read.mutate("queue")}
      >
        Add to queue
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconDatabasePlus size={14} aria-hidden />}
        onClick={() => read.mutate("dataset")}
      >
        Add to dataset
      </Button>
      <Suspense>
        {open?.kind === "queue" && <AddToQueue runs={{ ids: open.ids }} onClose={close} />}
        {open?.kind === "dataset" && <AddToDataset runIds={open.ids} onClose={close} />}
      </Suspense>
    </Group>
  );
}

function Runs({ projectId, jobId, clusterId }: { projectId: string; jobId: string; clusterId: string }) {
  const found = useInfiniteQuery(clusterRunsQuery(projectId, jobId, clusterId));
  const runs = found.data?.pages.flatMap((page) => page.runs) ?? [];
  const columns: SimpleColumn<ClusterRun>[] = [
    {
      title: "Run",
      cell: (run) => (
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: run.id }} size="sm">
          {run.summary ?? run.inputs_preview ?? run.name}
        </AnchorLink>
      ),
    },
    { title: "Outcome", width: 190, cell: (run) => run.error?.slice(0, 120) ?? run.status },
    { title: "Start", width: 110, cell: (run) => <TimeText at={`${run.start_time}Z`} /> },
  ];
  return (
    <LoadedList query={found} rows={8} list={runs} empty={null}>
      <SimpleTable label="Runs of the group" columns={columns} rows={runs} rowKey={({ id }) => id} pages={found} />
    </LoadedList>
  );
}
