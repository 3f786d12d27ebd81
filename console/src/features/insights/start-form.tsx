import { Group, NumberInput, SegmentedControl, Select, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { compact, count, money } from "../../ui/format.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { connectionsQuery, providersQuery } from "../models/queries.ts";
import { type Estimate, estimateQuery, type Settings, startJob } from "./queries.ts";

interface StartFormProps {
  projectId: string;
  onStarted: (jobId: string) => unknown;
  onClose: () => void;
}

const PERIODS = [
  { value: "24", label: "Last 24 hours" },
  { value: "168", label: "Last 7 days" },
  { value: "720", label: "Last 30 days" },
  { value: "2160", label: "Last 90 days" },
];
const SUBJECTS = [
  { value: "questions", label: "Questions" },
  { value: "failures", label: "Failures" },
];
const UNITS = [
  { value: "roots", label: "Traces" },
  { value: "threads", label: "Threads" },
];

/** Form that starts a job, with what it will probably cost. */
export function StartForm({ projectId, onStarted, onClose }: StartFormProps) {
  const connections = useQuery(connectionsQuery);
  const providers = useQuery(providersQuery);
  const form = useForm({
    initialValues: {
      subject: "questions",
      unit: "roots",
      hours: "168",
      sample: 1000 as number | string,
      filter: "",
      summarize: false,
      connection: null as string | null,
      embedding: null as string | null,
      budget: "" as number | string,
      about: "",
    },
  });
  const settings = toSettings(form.values);
  const [asked] = useDebouncedValue(JSON.stringify(settings), 400);
  const estimate = useQuery({
    ...estimateQuery(projectId, JSON.parse(asked) as Settings),
    placeholderData: keepPreviousData,
  });
  const ready = (connections.data ?? []).filter((connection) => connection.ready);
  const embeds = new Set(
    (providers.data ?? []).filter(({ supports }) => supports["embeddings"]).map((provider) => provider.id),
  );
  const toChoice = ({ id, name }: { id: string; name: string }) => ({ value: id, label: name });
  return (
    <FormModal
      title="Find insights"
      action="Start"
      failure="Could not start"
      form={form}
      isReady={estimate.error === null && Number(form.values.sample) >= 1}
      onSubmit={async () => {
        const { id } = await startJob(projectId, settings);
        onClose();
        await onStarted(id);
      }}
      onClose={onClose}
    >
      <Group grow align="flex-start">
        <SegmentedControl aria-label="Subject" data={SUBJECTS} {...form.getInputProps("subject")} />
        <SegmentedControl aria-label="Counted once" data={UNITS} {...form.getInputProps("unit")} />
      </Group>
      <Text size="xs" c="dimmed">
        {form.values.subject === "questions"
          ? "Groups by what was asked."
          : "Groups failed runs by their errors, and those with bad feedback by its comments."}
      </Text>
      <Group grow align="flex-start">
        <Select label="Period" allowDeselect={false} data={PERIODS} {...form.getInputProps("hours")} />
        <NumberInput
          label="Sample"
          min={1}
          max={10_000}
          step={500}
          allowDecimal={false}
          {...form.getInputProps("sample")}
        />
        <NumberInput
          label="Budget in USD"
          placeholder="None"
          min={0}
          decimalScale={4}
          {...form.getInputProps("budget")}
        />
      </Group>
      <TextInput label="Filter" placeholder='eq(name, "agent")' {...form.getInputProps("filter")} />
      {ready.length > 0 && (
        <Group grow align="flex-start">
          <Select
            label="Connection that names"
            clearable
            placeholder="First that is ready"
            data={ready.map(toChoice)}
            {...form.getInputProps("connection")}
          />
          <Select
            label="Connection that embeds"
            clearable
            placeholder="The same, or another"
            data={ready.filter((connection) => embeds.has(connection.provider)).map(toChoice)}
            {...form.getInputProps("embedding")}
          />
        </Group>
      )}
      <Switch
        label="Summarize each run by the model first"
        description="Costs more, and groups long or multilingual texts better."
        {...form.getInputProps("summarize", { type: "checkbox" })}
      />
      <Textarea
        label="About the project"
        description="Helps to name the groups."
        autosize
        minRows={1}
        maxRows={6}
        maxLength={4000}
        {...form.getInputProps("about")}
      />
      <EstimateText estimate={estimate.data} error={estimate.error} summarizes={form.values.summarize} />
    </FormModal>
  );
}

interface Values {
  subject: string;
  unit: string;
  hours: string;
  sample: number | string;
  filter: string;
  summarize: boolean;
  connection: string | null;
  embedding: string | null;
  budget: number | string;
  about: string;
}

const toSettings = (values: Values): Settings => ({
  subject: values.subject as "questions",
  unit: values.unit as "roots",
  last_n_hours: Number(values.hours),
  sample: Math.max(1, Number(values.sample) || 1),
  summarize: values.summarize,
  ...(values.filter.trim() !== "" && { filter: values.filter.trim() }),
  ...(values.connection !== null && { connection_id: values.connection }),
  ...(values.embedding !== null && { embedding_connection_id: values.embedding }),
  ...(values.budget !== "" && { budget_usd: String(values.budget) }),
  ...(values.about.trim() !== "" && { user_context: { "What is it?": values.about.trim() } }),
});

function EstimateText({
  estimate,
  error,
  summarizes,
}: {
  estimate: Estimate | undefined;
  error: Error | null;
  summarizes: boolean;
}) {
  const lines = estimate && [
    `${count(estimate.sample)} of ${count(estimate.population)} in the period, ${count(estimate.population_failed)} of them failed`,
    `${estimate.embedding.model}: ${compact(estimate.embedding.tokens)} tokens`,
    ...(summarizes ? [`${estimate.summaries.model}: ${count(estimate.summaries.calls)} calls for summaries`] : []),
    `${estimate.names.model}: about ${count(estimate.names.calls)} calls for names`,
  ];
  return (
    <Stack gap={2} mih={96} role="status">
      {error !== null ? (
        <Text size="sm" c="danger" style={{ overflowWrap: "anywhere" }}>
          {error.message}
        </Text>
      ) : (
        lines && (
          <>
            <Text size="sm" fw={600}>
              {estimate.cost_usd === null
                ? "Estimated cost: unknown, a model has no price"
                : `Estimated cost: ${money(estimate.cost_usd)}`}
            </Text>
            {lines.map((line) => (
              <Text key={line} size="xs" c="dimmed">
                {line}
              </Text>
            ))}
          </>
        )
      )}
    </Stack>
  );
}
