import { Alert, Breadcrumbs, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";

import { count, counted, duration, money, percent } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { datasetQuery } from "../datasets/queries.ts";
import { usePermission } from "../settings/use-permission.ts";
import { FailedRows } from "./failed-rows.tsx";
import { changeExperiment, isOver, type Job, jobQuery } from "./queries.ts";

/** An experiment that Heddle executes: its progress, its scores so far, and what failed. */
export function ExperimentPage() {
  const { experimentId: id } = useParams({ from: "/_shell/experiments/$experimentId" });
  const { data: job, error, refetch } = useQuery(jobQuery(id));
  return (
    <Page title={job?.name ?? "Experiment"} actions={job && <Actions job={job} />}>
      <Breadcrumbs mb="xs" mt={-8} separatorMargin={6} mih={22}>
        <AnchorLink to="/experiments" size="sm">
          Experiments
        </AnchorLink>
        {job && (
          <AnchorLink
            to="/datasets/$datasetId"
            params={{ datasetId: job.dataset_id }}
            search={{ tab: "experiments" }}
            size="sm"
          >
            {job.dataset_name ?? "Deleted dataset"}
          </AnchorLink>
        )}
      </Breadcrumbs>
      {!job ? (
        <LoadState query={{ error, refetch }} rows={8} />
      ) : (
        <Stack gap="lg">
          <LiveProgress job={job} />
          {job.reason !== null && (
            <Alert color="warning" title="The experiment stopped" style={{ overflowWrap: "anywhere" }}>
              {job.reason}
            </Alert>
          )}
          <Results job={job} />
          <FailedRows job={job} />
        </Stack>
      )}
    </Page>
  );
}

function LiveProgress({ job: { status, progress, repetitions, evaluators } }: { job: Job }) {
  const { total, done, failed, running, judge_failures: unjudged, seconds_left: left } = progress;
  const notes = [
    `${count(done)} of ${counted(total, "run")}`,
    ...(running > 0 ? [`${count(running)} running`] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...(unjudged > 0 ? [`${count(unjudged)} not judged`] : []),
    ...(left === null ? [] : [`about ${duration(left * 1000)} left`]),
  ];
  return (
    <section aria-label="Progress">
      <Group gap="xs" mb="xs">
        <StatusBadge status={status} />
        <Text size="sm" c="dimmed">
          {[
            counted(repetitions, "repetition"),
            evaluators.length === 0 ? "no evaluators" : evaluators.map(({ name }) => name).join(", "),
          ].join(" · ")}
        </Text>
      </Group>
      <Progress label="Runs of the experiment" done={done} total={total} color={failed > 0 ? "warning" : "brand"}>
        {notes.join(", ")}
      </Progress>
    </section>
  );
}

function Results({ job }: { job: Job }) {
  const { scores, latency_ms: latency, error_rate: errors, cost_usd: cost, judge_cost_usd: judgeCost } = job;
  const rows = [
    ...Object.entries(scores).map(([key, { n, mean }]) => ({
      name: key,
      value: mean === null ? "–" : String(Number(mean.toFixed(3))),
      note: counted(n, "score"),
    })),
    { name: "Latency", value: duration(latency.p50), note: `p95 ${duration(latency.p95)}` },
    { name: "Error rate", value: percent(errors), note: "" },
    { name: "Cost", value: money(cost), note: judgeCost === null ? "" : `and ${money(judgeCost)} for evaluators` },
  ];
  return (
    <section aria-label="Results">
      <Title order={2} size="h6" mb={4}>
        {isOver(job.status) ? "Results" : "Results so far"}
      </Title>
      <SimpleTable
        label="Results"
        minWidth={400}
        columns={[
          { title: "Measure", cell: ({ name }) => name },
          { title: "Mean", width: 120, align: "right", cell: ({ value }) => value },
          { title: "", width: 220, cell: ({ note }) => note },
        ]}
        rows={rows}
        rowKey={({ name }) => name}
      />
    </section>
  );
}

const LABELS = { cancel: "Cancel", resume: "Resume", retry: "Retry failed" } as const;

function Actions({ job }: { job: Job }) {
  const client = useQueryClient();
  const denial = usePermission("models:call");
  const { data: dataset } = useQuery(datasetQuery(job.dataset_id));
  const compared = [...new Set([job.id, dataset?.baseline_experiment_id ?? job.id])];
  const change = useMutation({
    mutationFn: (action: keyof typeof LABELS) => changeExperiment(job.id, action),
    onSuccess: () => client.invalidateQueries({ queryKey: ["experiment-run", job.id] }),
    onError: notifyFailure("Could not change the experiment"),
  });
  const possible: (keyof typeof LABELS)[] = [];
  if (!isOver(job.status)) possible.push("cancel");
  if (job.status === "cancelled" || job.status === "stopped") possible.push("resume");
  const isRetried = isOver(job.status) && job.progress.failed + job.progress.judge_failures > 0;
  if (isRetried) possible.push("retry");
  return (
    <>
      {possible.map((action) => (
        <PermittedButton
          key={action}
          denial={denial}
          size="xs"
          variant={action === "cancel" ? "outline" : "default"}
          color={action === "cancel" ? "danger" : undefined}
          disabled={change.isPending}
          onClick={() => change.mutate(action)}
        >
          {LABELS[action]}
        </PermittedButton>
      ))}
      <ButtonLink to="/projects/$projectId" params={{ projectId: job.id }} size="xs" variant="default">
        Open traces
      </ButtonLink>
      <ButtonLink
        to="/datasets/$datasetId"
        params={{ datasetId: job.dataset_id }}
        search={{ tab: "compare", selectedSessions: compared.join(",") }}
        size="xs"
      >
        Compare
      </ButtonLink>
    </>
  );
}
