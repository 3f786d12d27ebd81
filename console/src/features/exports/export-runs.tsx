import { Accordion, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { CopyButton } from "../../ui/copy-button.tsx";
import { bytes, count } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { type Export, type ExportRun, exportRunsQuery, isInProgress } from "./queries.ts";

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** An export's runs, one per day of its window, each with its files. */
export function ExportRuns({ bulkExport }: { bulkExport: Export }) {
  const { data: runs, error, refetch } = useQuery(exportRunsQuery(bulkExport.id, isInProgress(bulkExport)));
  return (
    <section aria-label="Days">
      <Title order={2} size="h5" mb="xs">
        Days
      </Title>
      {!runs ? (
        <LoadState query={{ error, refetch }} rows={3} title="Could not load the days of this export" />
      ) : runs.length === 0 ? (
        <Text size="sm" c="dimmed">
          {isInProgress(bulkExport) ? "Days are listed when the export starts." : "No days."}
        </Text>
      ) : (
        <Accordion variant="contained" multiple>
          {runs.map((run) => (
            <Accordion.Item key={run.id} value={run.id}>
              <Accordion.Control>
                <Group gap="md">
                  <Text size="sm" w={110} className="numbers">
                    {day.format(new Date(run.start_time))}
                  </Text>
                  <StatusBadge status={run.status} />
                  <Text size="sm" className="numbers">
                    {count(run.progress.rows_written)} rows
                  </Text>
                  <Text size="sm" c="dimmed" className="numbers">
                    {bytes(run.progress.bytes_written)}
                  </Text>
                  {run.retry_number > 0 && <Text size="sm">{run.retry_number + 1} attempts</Text>}
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <RunDetails run={run} />
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
    </section>
  );
}

function RunDetails({ run }: { run: ExportRun }) {
  const result = run.metadata.result;
  return (
    <Stack gap="xs">
      {run.errors !== null && Object.keys(run.errors).length > 0 && (
        <Code block style={{ whiteSpace: "pre-wrap" }}>
          {JSON.stringify(run.errors, null, 2)}
        </Code>
      )}
      <Place label="Folder" path={result?.export_path ?? run.metadata.prefix} />
      {result?.exported_files.map((file) => (
        <Place key={file} label="File" path={file} />
      ))}
      {result !== null && /^completed$/i.test(run.status) && (
        <Text size="xs" c="dimmed">
          The export's folder contains _manifest.json, with the rows, size and checksum of each file, and _SUCCESS,
          which is written last.
        </Text>
      )}
    </Stack>
  );
}

const Place = ({ label, path }: { label: string; path: string }) => (
  <Group gap={6} wrap="nowrap" align="start">
    <Text size="xs" c="dimmed" w={48}>
      {label}
    </Text>
    <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>
      {path}
    </Text>
    <CopyButton value={path} label={`Copy ${label.toLowerCase()} path`} />
  </Group>
);
