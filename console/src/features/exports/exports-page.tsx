import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { Empty } from "../../ui/empty.tsx";
import { bytes, count } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { ExportForm } from "./export-form.tsx";
import { destinationsQuery, type Export, exportsQuery, isInProgress, projectNamesQuery } from "./queries.ts";
import { describeWindow } from "./windows.ts";

const route = getRouteApi("/_shell/exports/");

export function ExportsPage() {
  const navigate = route.useNavigate();
  const { create, project } = route.useSearch();
  const { data: exports, error, refetch } = useQuery(exportsQuery);
  const { data: destinations = [] } = useQuery(destinationsQuery);
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  const places = new Map(destinations.map(({ id, display_name: name }) => [id, name]));
  const open = () => void navigate({ search: { create: true } });
  return (
    <Page
      title="Exports"
      actions={
        <>
          <ButtonLink to="/exports/destinations" variant="default" size="xs">
            Destinations
          </ButtonLink>
          <NewButton onClick={open}>New export</NewButton>
        </>
      }
    >
      {create && (
        <ExportForm
          projectId={project}
          onClose={() => void navigate({ search: {} })}
          onCreated={(id) => void navigate({ to: "/exports/$exportId", params: { exportId: id } })}
        />
      )}
      {!exports ? (
        <LoadState query={{ error, refetch }} title="Could not load the exports" />
      ) : exports.length === 0 ? (
        <Empty title="No exports yet">
          <Text size="sm">
            An export writes a project's runs as Parquet files to your bucket, once or on a schedule, and verifies that
            no run is missing.
          </Text>
          {destinations.length === 0 ? (
            <ButtonLink to="/exports/destinations" search={{ create: true }}>
              New destination
            </ButtonLink>
          ) : (
            <Button onClick={open}>New export</Button>
          )}
        </Empty>
      ) : (
        <SimpleTable
          label="Exports"
          minWidth={1000}
          rows={exports}
          rowKey={({ id }) => id}
          columns={[
            {
              title: "Project",
              cell: (bulkExport) => (
                <AnchorLink to="/exports/$exportId" params={{ exportId: bulkExport.id }} size="sm">
                  {names.get(bulkExport.session_id) ?? bulkExport.session_id}
                </AnchorLink>
              ),
            },
            { title: "Status", width: 140, cell: (bulkExport) => <StatusBadge status={bulkExport.status} /> },
            { title: "Window", width: 340, cell: (bulkExport) => <Text size="sm">{describeWindow(bulkExport)}</Text> },
            { title: "Destination", cell: ({ bulk_export_destination_id: id }) => places.get(id) ?? id },
            { title: "Written", width: 170, cell: (bulkExport) => <Written bulkExport={bulkExport} /> },
            { title: "Created", width: 100, cell: ({ created_at: at }) => <TimeText at={at} /> },
          ]}
        />
      )}
    </Page>
  );
}

function Written({ bulkExport }: { bulkExport: Export }) {
  const { rows_written: rows, rows_total: total, bytes_written: size } = bulkExport.progress;
  if (bulkExport.interval_hours !== null) return <Text size="sm">every {bulkExport.interval_hours} h</Text>;
  if (isInProgress(bulkExport)) {
    return (
      <Progress label="Rows written" done={rows} total={total}>
        {count(rows)} of {count(total)} rows
      </Progress>
    );
  }
  return (
    <Text size="sm" className="numbers">
      {count(rows)} rows, {bytes(size)}
    </Text>
  );
}
