import {
  Group,
  Loader,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Text,
  TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { FormModal } from "../../ui/form-modal.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { EXPORT_FIELDS } from "./export-fields.ts";
import { createExport, destinationsQuery, type ExportBody, exportPreviewQuery, projectNamesQuery } from "./queries.ts";

interface ExportFormProps {
  projectId: string | undefined;
  onClose: () => void;
  onCreated: (id: string) => void;
}

const DAY = 86_400_000;

/** Returns midnight UTC that many days ago, as `datetime-local` expects it. */
const midnight = (days: number): string =>
  new Date(Math.floor(Date.now() / DAY) * DAY - days * DAY).toISOString().slice(0, 16);

export function ExportForm({ projectId, onClose, onCreated }: ExportFormProps) {
  const queryClient = useQueryClient();
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const { data: destinations = [] } = useQuery(destinationsQuery);
  const form = useForm({
    initialValues: {
      project: projectId ?? null,
      destination: null as string | null,
      frequency: "once",
      start: midnight(7),
      end: midnight(0),
      hours: 24 as number | string,
      filter: "",
      fields: [] as NonNullable<ExportBody["export_fields"]>,
      compression: "zstandard" as NonNullable<ExportBody["compression"]>,
    },
  });
  const { start, end, hours, filter, fields, compression } = form.values;
  const repeats = form.values.frequency === "repeats";
  const isExperiment = (candidate: (typeof projects)[number]) => candidate.reference_dataset_id !== null;
  const options = (some: typeof projects) => some.map(({ id, name }) => ({ value: id, label: name }));
  const project =
    form.values.project ?? (projects.find((candidate) => !isExperiment(candidate)) ?? projects[0])?.id ?? "";
  const destination = form.values.destination ?? destinations[0]?.id ?? "";
  const isDated = start !== "" && (repeats || (end !== "" && end > start));
  const body: ExportBody = {
    session_id: project,
    bulk_export_destination_id: destination,
    start_time: `${start}:00Z`,
    ...(repeats ? { interval_hours: Number(hours) } : { end_time: `${end}:00Z` }),
    filter: filter.trim() === "" ? null : filter.trim(),
    compression,
    ...(fields.length > 0 && { export_fields: fields }),
  };
  const create = async () => {
    const { id } = await createExport(body);
    await queryClient.invalidateQueries({ queryKey: ["exports"] });
    onCreated(id);
  };
  return (
    <FormModal
      title="New export"
      action="Create export"
      failure="Could not create the export"
      form={form}
      isReady={isDated && project !== "" && destination !== ""}
      onSubmit={create}
      onClose={onClose}
    >
      <Group grow align="start">
        <Select
          label="Project"
          data={[
            { group: "Projects", items: options(projects.filter((candidate) => !isExperiment(candidate))) },
            { group: "Experiments", items: options(projects.filter(isExperiment)) },
          ].filter(({ items }) => items.length > 0)}
          allowDeselect={false}
          searchable
          required
          {...form.getInputProps("project")}
          value={project}
        />
        <Select
          label="Destination"
          data={destinations.map(({ id, display_name: name }) => ({ value: id, label: name }))}
          allowDeselect={false}
          required
          {...form.getInputProps("destination")}
          value={destination}
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
        {...form.getInputProps("frequency")}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput type="datetime-local" label="From" description="UTC" required {...form.getInputProps("start")} />
        {repeats ? (
          <NumberInput
            label="Interval (hours)"
            description="Each window is exported ten minutes after it ends"
            min={1}
            max={168}
            required
            {...form.getInputProps("hours")}
          />
        ) : (
          <TextInput
            type="datetime-local"
            label="To"
            description="UTC, exclusive"
            required
            {...form.getInputProps("end")}
            error={isDated ? undefined : "Must be after the start"}
          />
        )}
      </SimpleGrid>
      <TextInput
        label="Filter"
        description='For example eq(run_type, "llm"). Leave empty to export all runs.'
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        {...form.getInputProps("filter")}
      />
      <Group grow align="start">
        <MultiSelect
          label="Columns"
          description="Leave empty to export all columns"
          data={EXPORT_FIELDS}
          searchable
          clearable
          {...form.getInputProps("fields")}
        />
        <Select
          label="Compression"
          description="Compression of the Parquet files"
          data={["zstandard", "snappy", "gzip", "none"]}
          allowDeselect={false}
          {...form.getInputProps("compression")}
        />
      </Group>
      {isDated && project !== "" && <Preview body={body} />}
    </FormModal>
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
        <Text span size="sm" c="var(--heddle-danger)">
          {error.message}
        </Text>
      ) : rows === undefined ? (
        <Loader size={14} role="img" aria-label="Counting" />
      ) : (
        <>
          <b className="numbers">{count(rows)}</b> matching rows{end_time == null && " in all windows so far"}
          {rows === 0 && ". Choose a longer time range or another filter."}
        </>
      )}
    </Text>
  );
}
