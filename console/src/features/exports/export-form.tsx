import {
  Alert,
  Button,
  Group,
  Loader,
  Modal,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";

import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { createExport, destinationsQuery, type ExportBody, exportPreviewQuery, projectNamesQuery } from "./queries.ts";
import { EXPORT_FIELDS } from "./export-fields.ts";

interface ExportFormProps {
  projectId: string | undefined;
  onClose: () => void;
  onCreated: (id: string) => void;
}

type Compression = NonNullable<ExportBody["compression"]>;
const DAY = 86_400_000;

/** Returns midnight UTC that many days ago, as `datetime-local` expects it. */
const midnight = (days: number): string =>
  new Date(Math.floor(Date.now() / DAY) * DAY - days * DAY).toISOString().slice(0, 16);

export function ExportForm({ projectId, onClose, onCreated }: ExportFormProps) {
  useFocusBack();
  const queryClient = useQueryClient();
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const { data: destinations = [] } = useQuery(destinationsQuery);
  const [project, setProject] = useState<string | null>(projectId ?? null);
  const [destination, setDestination] = useState<string | null>(null);
  const [start, setStart] = useState(midnight(7));
  const [end, setEnd] = useState(midnight(0));
  const [repeats, setRepeats] = useState(false);
  const [hours, setHours] = useState<number | string>(24);
  const [filter, setFilter] = useState("");
  const [fields, setFields] = useState<string[]>([]);
  const [compression, setCompression] = useState<Compression>("zstandard");
  const isExperiment = (candidate: (typeof projects)[number]) => candidate.reference_dataset_id !== null;
  const session = project ?? (projects.find((candidate) => !isExperiment(candidate)) ?? projects[0])?.id ?? "";
  const options = (some: typeof projects) => some.map(({ id, name }) => ({ value: id, label: name }));
  const place = destination ?? destinations[0]?.id ?? "";
  const isDated = start !== "" && (repeats || (end !== "" && end > start));
  const body: ExportBody = {
    session_id: session,
    bulk_export_destination_id: place,
    start_time: `${start}:00Z`,
    ...(repeats ? { interval_hours: Number(hours) } : { end_time: `${end}:00Z` }),
    filter: filter.trim() === "" ? null : filter.trim(),
    compression,
    ...(fields.length > 0 && { export_fields: fields as NonNullable<ExportBody["export_fields"]> }),
  };
  const create = useMutation({
    mutationFn: () => createExport(body),
    async onSuccess({ id }) {
      await queryClient.invalidateQueries({ queryKey: ["exports"] });
      onCreated(id);
    },
  });
  return (
    <Modal opened onClose={onClose} title="New export" size="lg" closeButtonProps={{ title: "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack gap="sm">
          <Group grow align="start">
            <Select
              label="Project"
              data={[
                { group: "Projects", items: options(projects.filter((candidate) => !isExperiment(candidate))) },
                { group: "Experiments", items: options(projects.filter(isExperiment)) },
              ].filter(({ items }) => items.length > 0)}
              value={session}
              onChange={setProject}
              allowDeselect={false}
              searchable
              required
            />
            <Select
              label="Destination"
              data={destinations.map(({ id, display_name: name }) => ({ value: id, label: name }))}
              value={place}
              onChange={setDestination}
              allowDeselect={false}
              required
            />
          </Group>
          {destinations.length === 0 && (
            <Text size="sm">
              No destinations yet.{" "}
              <AnchorLink to="/exports/destinations" search={{ create: true }}>
                Create one
              </AnchorLink>
            </Text>
          )}
          <SegmentedControl
            aria-label="Frequency"
            data={[
              { value: "once", label: "Once" },
              { value: "repeats", label: "Recurring" },
            ]}
            value={repeats ? "repeats" : "once"}
            onChange={(value) => setRepeats(value === "repeats")}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <TextInput
              type="datetime-local"
              label="From"
              description="UTC"
              value={start}
              onChange={(event) => setStart(event.currentTarget.value)}
              required
            />
            {repeats ? (
              <NumberInput
                label="Interval (hours)"
                description="Each window is exported when it ends"
                value={hours}
                onChange={setHours}
                min={1}
                max={168}
                required
              />
            ) : (
              <TextInput
                type="datetime-local"
                label="To"
                description="UTC, exclusive"
                value={end}
                onChange={(event) => setEnd(event.currentTarget.value)}
                error={isDated ? undefined : "Must be after the start"}
                required
              />
            )}
          </SimpleGrid>
          <TextInput
            label="Filter"
            description='For example eq(run_type, "llm"). Leave empty to export all runs.'
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
          <Group grow align="start">
            <MultiSelect
              label="Columns"
              description="Leave empty to export all columns"
              data={EXPORT_FIELDS}
              value={fields}
              onChange={setFields}
              searchable
              clearable
            />
            <Select
              label="Compression"
              description="Compression of the Parquet files"
              data={["zstandard", "snappy", "gzip", "none"]}
              value={compression}
              onChange={(value) => value !== null && setCompression(value as Compression)}
              allowDeselect={false}
            />
          </Group>
          {isDated && session !== "" && <Preview body={body} />}
          {create.error && (
            <Alert color="red" role="alert" title="Could not create the export">
              {create.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={!isDated || session === "" || place === ""}>
              Create export
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Number of rows that the export would have, requested again when typing pauses. */
function Preview({ body }: { body: ExportBody }) {
  const { session_id, start_time, end_time, filter } = body;
  const [debouncedBody] = useDebouncedValue(JSON.stringify({ session_id, start_time, end_time, filter }), 400);
  const { data: rows, error } = useQuery(exportPreviewQuery(debouncedBody));
  return (
    <Text size="sm" role="status" mih={22}>
      {error ? (
        <Text span size="sm" c="var(--mantine-color-error)">
          {error.message}
        </Text>
      ) : rows === undefined ? (
        <Loader size={14} aria-label="Counting" />
      ) : (
        <>
          <b className="numbers">{count(rows)}</b> matching rows{end_time == null && " in all windows so far"}
          {rows === 0 && ". Choose a longer time range or another filter."}
        </>
      )}
    </Text>
  );
}
