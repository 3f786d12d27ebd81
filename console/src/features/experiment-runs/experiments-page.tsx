import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, money } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { formatScores } from "./format-scores.ts";
import { jobsQuery, type ListedJob } from "./queries.ts";
import { RunExperimentButton } from "./run-experiment-button.tsx";

const COLUMNS: Column<ListedJob>[] = [
  {
    id: "name",
    header: "Experiment",
    width: "minmax(180px, 1.5fr)",
    cell: ({ id, name }) => (
      <AnchorLink to="/experiments/$experimentId" params={{ experimentId: id! }} size="sm" truncate>
        {name}
      </AnchorLink>
    ),
  },
  {
    id: "dataset",
    header: "Dataset",
    width: "minmax(120px, 1fr)",
    cell: ({ dataset_id: id, dataset_name: name }) => (
      <AnchorLink
        to="/datasets/$datasetId"
        params={{ datasetId: id! }}
        search={{ tab: "experiments" }}
        size="sm"
        truncate
      >
        {name ?? "Deleted dataset"}
      </AnchorLink>
    ),
  },
  { id: "status", header: "Status", width: "120px", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: "done",
    header: "Done",
    width: "110px",
    align: "right",
    cell: ({ progress }) => `${count(progress!.done)} of ${count(progress!.total)}`,
  },
  { id: "failed", header: "Failed", width: "80px", align: "right", cell: ({ progress }) => count(progress!.failed) },
  {
    id: "scores",
    header: "Scores",
    width: "minmax(140px, 1.2fr)",
    cell: ({ scores }) => (
      <Text size="sm" truncate className="numbers">
        {formatScores(scores!)}
      </Text>
    ),
  },
  { id: "cost", header: "Cost", width: "90px", align: "right", cell: ({ cost_usd: cost }) => money(cost) },
  { id: "created", header: "Created", width: "110px", cell: ({ created_at: at }) => <TimeText at={at!} /> },
];

/** Experiments that Heddle executes, newest first. */
export function ExperimentsPage() {
  const found = useQuery(jobsQuery);
  const jobs = found.data?.items ?? [];
  return (
    <Page title="Experiments" actions={<RunExperimentButton variant="filled" />}>
      <LoadedList
        query={found}
        rows={8}
        list={jobs}
        empty={
          <Empty title="No experiments yet">
            An experiment runs a prompt, an assistant or an HTTP endpoint on each example of a dataset, and evaluators
            score the outputs. It continues when this page is closed.
          </Empty>
        }
      >
        <DataTable label="Experiments" columns={COLUMNS} rows={jobs} rowKey={({ id }) => id!} />
      </LoadedList>
    </Page>
  );
}
