import { Button, Checkbox, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, money, percent, seconds, tokens } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import type { Project } from "../projects/queries.ts";
import { FeedbackChips } from "../runs/feedback-chips.tsx";
import { utc } from "../runs/run-record.ts";
import { datasetQuery, experimentsQuery } from "./queries.ts";
import { ExperimentSample } from "../samples/sample-parts.tsx";

interface ExperimentsTableProps {
  datasetId: string;
  /** Ids of the experiments selected for comparison. */
  selected: string[];
  onSelect: (ids: string[]) => void;
  onCompare: () => void;
}

export function ExperimentsTable({ datasetId, selected, onSelect, onCompare }: ExperimentsTableProps) {
  const found = useQuery(experimentsQuery(datasetId));
  const { data: dataset } = useQuery(datasetQuery(datasetId));
  const columns = useMemo(
    (): Column<Project>[] => [
      {
        id: "select",
        header: "",
        width: "44px",
        cell: ({ id, name }) => (
          <Checkbox
            size="xs"
            aria-label={`Compare ${name}`}
            checked={selected.includes(id)}
            onChange={({ currentTarget: { checked } }) =>
              onSelect(checked ? [...selected, id] : selected.filter((selectedId) => selectedId !== id))
            }
          />
        ),
      },
      {
        id: "name",
        header: "Experiment",
        width: "minmax(180px, 1.5fr)",
        sortBy: ({ name }) => name,
        cell: ({ id, name }) => (
          <AnchorLink to="/projects/$projectId" params={{ projectId: id }} size="sm" truncate>
            {name}
          </AnchorLink>
        ),
      },
      {
        id: "start",
        header: "Started",
        width: "110px",
        sortBy: (p) => p.start_time,
        cell: (p) => <TimeText at={utc(p.start_time)} />,
      },
      figure("runs", "Runs", (p) => p.run_count, count),
      figure("errors", "Errors", (p) => p.error_rate, percent),
      figure("p50", "P50", (p) => p.latency_p50, seconds),
      figure("tokens", "Tokens", (p) => p.total_tokens, tokens),
      {
        id: "cost",
        header: "Cost",
        width: "86px",
        align: "right",
        sortBy: (p) => Number(p.total_cost ?? 0),
        cell: (p) => money(p.total_cost),
      },
      {
        id: "feedback",
        header: "Feedback",
        width: "minmax(180px, 1.5fr)",
        cell: (p) => <FeedbackChips stats={{ ...p.feedback_stats, ...p.session_feedback_stats }} />,
      },
    ],
    [selected, onSelect],
  );
  if (!found.data) return <LoadState query={found} rows={6} />;
  if (found.data.length === 0) {
    return (
      <Empty title="No experiments yet">
        <Text size="sm" maw={520}>
          An experiment runs a target on each example and scores its outputs. Create one with the SDK.
        </Text>
        {dataset && <ExperimentSample dataset={dataset.name} />}
      </Empty>
    );
  }
  return (
    <>
      <Group mb="sm">
        <Button size="xs" disabled={selected.length === 0} onClick={onCompare}>
          Compare {selected.length > 0 ? selected.length : ""}
        </Button>
        <Text size="xs" c="dimmed">
          Select experiments to compare their outputs side by side.
        </Text>
      </Group>
      <DataTable label="Experiments" columns={columns} rows={found.data} rowKey={({ id }) => id} />
    </>
  );
}

const figure = (
  id: string,
  header: string,
  value: (project: Project) => number | null | undefined,
  print: (value: number | null | undefined) => string,
): Column<Project> => ({ id, header, width: "86px", align: "right", sortBy: value, cell: (p) => print(value(p)) });
