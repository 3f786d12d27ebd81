import { SegmentedControl, Stack } from "@mantine/core";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { DENSITIES, type Density, setDensity, useDensity } from "../../ui/density.ts";
import { Empty } from "../../ui/empty.tsx";
import { Loading } from "../../ui/loading.tsx";
import { NextPage, type Pages } from "../../ui/next-page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { Part, Sample } from "./sample.tsx";

interface Row {
  id: string;
  name: string;
  status: string;
  seconds: number;
  at: string;
}

const AT = "2026-01-05T09:30:00Z";
const ROWS: Row[] = [
  { id: "01a2296f-f39c-7000-a84b-060022dcb4a9", name: "Where is my order?", status: "success", seconds: 1.2, at: AT },
  {
    id: "01a2296f-f35f-7000-bde7-0acb5d157ac2",
    name: "How do I return a jacket?",
    status: "error",
    seconds: 30,
    at: AT,
  },
  { id: "01a2296f-f379-7000-979b-66c02343d19c", name: "שלום, איפה ההזמנה שלי?", status: "running", seconds: 4, at: AT },
];

const COLUMNS: Column<Row>[] = [
  { id: "name", header: "Input", width: "minmax(140px, 2fr)", cell: ({ name }) => <span dir="auto">{name}</span> },
  { id: "status", header: "Status", width: "110px", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: "latency",
    header: "Latency",
    width: "90px",
    align: "right",
    sortBy: ({ seconds }) => seconds,
    cell: ({ seconds }) => `${seconds} s`,
  },
];
const none = <Empty title="No runs in this time range">Choose a longer time range.</Empty>;

const FAILED: Pages = {
  error: new Error("The server did not respond within 30 s."),
  hasNextPage: true,
  isFetchingNextPage: false,
  isFetchNextPageError: true,
  fetchNextPage() {},
};

export const Tables = () => (
  <Part title="Tables">
    <Sample name="Density: the reader's choice, for all tables">
      <DensityControl />
    </Sample>
    <Sample name="Simple table: up to some hundred rows, cards on a phone" isWide>
      <SimpleTable
        label="Threads"
        rows={ROWS}
        rowKey={({ id }) => id}
        columns={[
          {
            title: "Thread",
            cell: ({ id, name }) => (
              <>
                <span dir="auto">{name}</span> <ShortId id={id} />
              </>
            ),
          },
          { title: "Status", width: 130, cell: ({ status }) => <StatusBadge status={status} /> },
          { title: "Latency", width: 100, align: "right", cell: ({ seconds }) => `${seconds} s` },
          { title: "Started", width: 120, cell: ({ at }) => <TimeText at={at} /> },
        ]}
      />
    </Sample>
    <Sample name="Data table: any number of rows, sorted, one selected">
      <DataTable
        label="Runs"
        columns={COLUMNS}
        rows={ROWS}
        rowKey={({ id }) => id}
        sort={{ id: "latency", desc: true }}
        isSelected={({ status }) => status === "error"}
        onOpen={() => {}}
        maxHeight="320px"
      />
    </Sample>
    <Sample name="Data table, empty">{none}</Sample>
    <Sample name="Data table, loading">
      <Loading rows={4} />
    </Sample>
    <Sample name="Data table, error">
      <Stack gap={0}>
        <Problem
          error={new Error("The filter could not be read: expected the end of the expression.")}
          title="Could not load the runs"
          onRetry={() => {}}
        />
      </Stack>
    </Sample>
    <Sample name="End of a list whose next page failed">
      <NextPage pages={FAILED} />
    </Sample>
  </Part>
);

const DensityControl = () => (
  <SegmentedControl
    size="xs"
    aria-label="Density"
    data={[...DENSITIES]}
    value={useDensity()}
    onChange={(value) => setDensity(value as Density)}
  />
);
