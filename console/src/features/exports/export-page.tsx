import { Alert, Button, Group, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { bytes, count, duration } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { ExportRuns } from "./export-runs.tsx";
import {
  cancelExport,
  createExport,
  destinationsQuery,
  type Export,
  type ExportBody,
  exportQuery,
  exportsQuery,
  isInProgress,
  projectNamesQuery,
} from "./queries.ts";
import { VerifyExport } from "./verify-export.tsx";
import { describeWindow, nextWindows, utcMoment } from "./windows.ts";

const route = getRouteApi("/_shell/exports/$exportId");

/** One export, or one schedule with its exports. */
export function ExportPage() {
  const { exportId } = route.useParams();
  const { data: bulkExport, error, refetch } = useQuery(exportQuery(exportId));
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const name = projects.find(({ id }) => id === bulkExport?.session_id)?.name;
  return (
    <Page title={`Export of ${name ?? "project"}`} actions={bulkExport && <Actions bulkExport={bulkExport} />}>
      {bulkExport ? (
        <Stack gap="lg">
          <Summary bulkExport={bulkExport} />
          {/^completed$/i.test(bulkExport.status) && bulkExport.interval_hours === null && (
            <VerifyExport id={bulkExport.id} />
          )}
          {bulkExport.interval_hours === null ? (
            <ExportRuns bulkExport={bulkExport} />
          ) : (
            <Schedule bulkExport={bulkExport} />
          )}
        </Stack>
      ) : (
        <LoadState query={{ error, refetch }} title="Could not load the export" />
      )}
    </Page>
  );
}

function Actions({ bulkExport }: { bulkExport: Export }) {
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["exports"] });
  const isSchedule = bulkExport.interval_hours !== null;
  const again = useMutation({
    mutationFn: () => createExport(copyExport(bulkExport)),
    onError: notifyFailure("Could not create the export"),
    onSuccess: async ({ id }) => {
      await refresh();
      await navigate({ to: "/exports/$exportId", params: { exportId: id } });
    },
  });
  return (
    <>
      {dialog}
      {isInProgress(bulkExport) && (
        <Button
          size="xs"
          variant="default"
          onClick={() =>
            confirm({
              title: isSchedule ? "Stop this schedule?" : "Cancel this export?",
              body: isSchedule
                ? "No further windows are exported. Active exports finish, and written files are kept."
                : "Written files stay in the bucket, without the _SUCCESS file.",
              action: isSchedule ? "Stop schedule" : "Cancel export",
              dismiss: "Go back",
              run: async () => {
                await cancelExport(bulkExport.id);
                await refresh();
              },
            })
          }
        >
          {isSchedule ? "Stop schedule" : "Cancel export"}
        </Button>
      )}
      {!isInProgress(bulkExport) && !isSchedule && (
        <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
          Rerun export
        </Button>
      )}
    </>
  );
}

const copyExport = (bulkExport: Export): ExportBody =>
  ({
    session_id: bulkExport.session_id,
    bulk_export_destination_id: bulkExport.bulk_export_destination_id,
    start_time: bulkExport.start_time,
    end_time: bulkExport.end_time,
    filter: bulkExport.filter,
    compression: bulkExport.compression,
    format_version: bulkExport.format_version,
    ...(bulkExport.export_fields !== null && { export_fields: bulkExport.export_fields }),
  }) as ExportBody;

function Summary({ bulkExport }: { bulkExport: Export }) {
  const { data: destinations = [] } = useQuery(destinationsQuery);
  const place = destinations.find(({ id }) => id === bulkExport.bulk_export_destination_id);
  const { rows_total: total, rows_written: rows, bytes_written: size, files_written: files } = bulkExport.progress;
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <StatusBadge status={bulkExport.status} />
        <Text size="sm">{describeWindow(bulkExport)}</Text>
        {place && (
          <Text size="sm" c="dimmed">
            to {place.display_name}
          </Text>
        )}
        {bulkExport.source_bulk_export_id !== null && (
          <AnchorLink to="/exports/$exportId" params={{ exportId: bulkExport.source_bulk_export_id }} size="sm">
            from a schedule
          </AnchorLink>
        )}
      </Group>
      {bulkExport.error !== null && (
        <Alert color="danger" title="Error" role="alert">
          {bulkExport.error}
        </Alert>
      )}
      {bulkExport.filter !== null && (
        <Group gap={4}>
          <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
            {bulkExport.filter}
          </Text>
          <CopyButton value={bulkExport.filter} label="Copy filter" />
        </Group>
      )}
      {bulkExport.interval_hours === null && (
        <Paper withBorder p="sm">
          {isInProgress(bulkExport) && (
            <Progress label="Rows written" done={rows} total={total}>
              {count(rows)} of {count(total)} rows <Estimate bulkExport={bulkExport} />
            </Progress>
          )}
          <SimpleGrid cols={{ base: 2, sm: 4 }} mt={isInProgress(bulkExport) ? "sm" : 0}>
            <Fact label="Rows" value={count(rows)} />
            <Fact label="Size" value={bytes(size)} />
            <Fact label="Files" value={count(files)} />
            <Fact
              label="Duration"
              value={
                bulkExport.started_at && bulkExport.finished_at
                  ? duration(Date.parse(bulkExport.finished_at) - Date.parse(bulkExport.started_at))
                  : "–"
              }
            />
          </SimpleGrid>
        </Paper>
      )}
      <Text size="xs" c="dimmed">
        Created <TimeText at={bulkExport.created_at} size="xs" />, {bulkExport.compression}, format{" "}
        {bulkExport.format_version},{" "}
        {bulkExport.export_fields === null ? "all columns" : `columns ${bulkExport.export_fields.join(", ")}`}
      </Text>
    </Stack>
  );
}

function Estimate({ bulkExport }: { bulkExport: Export }) {
  const now = useNow();
  const end = bulkExport.progress.estimated_end;
  return end === null ? null : <>, about {duration(Math.max(0, Date.parse(end) - now))} left</>;
}

export function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} className="numbers">
        {value}
      </Text>
    </div>
  );
}

function Schedule({ bulkExport }: { bulkExport: Export }) {
  const now = useNow();
  const { data: exports = [] } = useQuery(exportsQuery);
  const spawned = exports.filter(({ source_bulk_export_id: source }) => source === bulkExport.id);
  return (
    <>
      {isInProgress(bulkExport) && (
        <section aria-label="Next windows">
          <Title order={2} size="h5" mb="xs">
            Next windows
          </Title>
          <SimpleTable
            label="Next windows"
            rows={nextWindows(bulkExport, now, 3)}
            rowKey={({ start }) => start}
            columns={[
              { title: "Window", cell: ({ start, end }) => `${utcMoment(start)} – ${utcMoment(end)}` },
              { title: "Due", width: 160, cell: ({ end }) => <TimeText at={end} /> },
            ]}
          />
        </section>
      )}
      <section aria-label="Exports of this schedule">
        <Title order={2} size="h5" mb="xs">
          Exports
        </Title>
        {spawned.length === 0 ? (
          <Text size="sm" c="dimmed">
            No window has ended yet.
          </Text>
        ) : (
          <SimpleTable
            label="Exports of this schedule"
            rows={spawned}
            rowKey={({ id }) => id}
            columns={[
              {
                title: "Window",
                cell: (window) => (
                  <AnchorLink to="/exports/$exportId" params={{ exportId: window.id }} size="sm">
                    {describeWindow(window)}
                  </AnchorLink>
                ),
              },
              { title: "Status", width: 150, cell: (window) => <StatusBadge status={window.status} /> },
              { title: "Rows", width: 120, align: "right", cell: (window) => count(window.progress.rows_written) },
            ]}
          />
        )}
      </section>
    </>
  );
}
