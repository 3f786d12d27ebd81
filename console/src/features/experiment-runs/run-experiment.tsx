import { Group, MultiSelect, NumberInput, SegmentedControl, Select, Textarea, TextInput } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { counted } from "../../ui/format.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { connectionsQuery } from "../models/queries.ts";
import { datasetChoicesQuery } from "../traces/queries.ts";
import { buildTarget, EMPTY_TARGET, INPUT_LABELS, isTargetReady } from "./build-target.ts";
import { judgeChoicesQuery, type JobCreate, promptChoicesQuery, startExperiment } from "./queries.ts";

interface RunExperimentProps {
  /** Dataset, or prompt, of the page that opens it. */
  datasetId?: string;
  prompt?: { name: string; commit: string };
  onClose: () => void;
}

const initialValues = ({ datasetId, prompt }: Omit<RunExperimentProps, "onClose">) => ({
  ...EMPTY_TARGET,
  prompt: prompt?.name ?? null,
  commit: prompt?.commit ?? "",
  datasetId: datasetId ?? null,
  name: "",
  evaluators: [] as string[],
  repetitions: 1 as number | string,
  concurrency: 5 as number | string,
  maxExamples: "" as number | string,
});
type Values = ReturnType<typeof initialValues>;

/** Dialog that starts an experiment, and then shows its progress. */
export function RunExperiment({ onClose, ...from }: RunExperimentProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const datasets = useQuery(datasetChoicesQuery);
  const evaluators = useQuery(judgeChoicesQuery);
  const form = useForm({ initialValues: initialValues(from) });
  const { values } = form;
  const start = async () => {
    const name = values.name.trim();
    const body = {
      dataset_id: values.datasetId!,
      target: buildTarget(values),
      ...(name !== "" && { name }),
      ...(values.maxExamples !== "" && { max_examples: Number(values.maxExamples) }),
      evaluators: values.evaluators.map((id) => ({ evaluator_id: id })),
      repetitions: Number(values.repetitions),
      concurrency: Number(values.concurrency),
    };
    const job = await startExperiment(body as JobCreate);
    await client.invalidateQueries({ queryKey: ["experiment-runs"] });
    onClose();
    await navigate({ to: "/experiments/$experimentId", params: { experimentId: job.id } });
  };
  return (
    <FormModal
      title="Run experiment"
      action="Run experiment"
      failure="Could not start the experiment"
      form={form}
      isReady={values.datasetId !== null && isTargetReady(values)}
      onSubmit={start}
      onClose={onClose}
    >
      <Select
        label="Dataset"
        searchable
        required
        data-autofocus
        nothingFoundMessage="No matching datasets"
        data={(datasets.data ?? []).map(({ id, name, example_count: size }) => ({
          value: id,
          label: `${name} (${counted(size, "example")})`,
        }))}
        {...form.getInputProps("datasetId")}
      />
      <SegmentedControl
        aria-label="Target"
        data={[
          { value: "prompt", label: "Prompt" },
          { value: "assistant", label: "Assistant" },
          { value: "http", label: "HTTP endpoint" },
        ]}
        {...form.getInputProps("kind")}
      />
      {values.kind === "prompt" ? <PromptFields form={form} /> : <EndpointFields form={form} />}
      <MultiSelect
        label="Evaluators"
        searchable
        placeholder={values.evaluators.length === 0 ? "None" : ""}
        nothingFoundMessage="No matching evaluators"
        data={evaluators.data ?? []}
        {...form.getInputProps("evaluators")}
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Repetitions"
          min={1}
          max={100}
          allowDecimal={false}
          {...form.getInputProps("repetitions")}
        />
        <NumberInput label="Concurrency" min={1} max={50} allowDecimal={false} {...form.getInputProps("concurrency")} />
        <NumberInput
          label="Examples"
          placeholder="All"
          min={1}
          allowDecimal={false}
          {...form.getInputProps("maxExamples")}
        />
      </Group>
      <TextInput
        label="Name"
        placeholder="The target's name and an id"
        maxLength={1000}
        {...form.getInputProps("name")}
      />
    </FormModal>
  );
}

interface FieldsProps {
  form: UseFormReturnType<Values>;
}

function PromptFields({ form }: FieldsProps) {
  const prompts = useQuery(promptChoicesQuery);
  const connections = useQuery(connectionsQuery);
  const names = prompts.data ?? [];
  const chosen = form.values.prompt;
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label="Prompt"
          searchable
          required
          nothingFoundMessage="No matching prompts"
          data={chosen === null || names.includes(chosen) ? names : [chosen, ...names]}
          {...form.getInputProps("prompt")}
        />
        <TextInput label="Commit or tag" placeholder="latest" {...form.getInputProps("commit")} />
      </Group>
      <Group grow align="flex-start">
        <Select
          label="Model connection"
          clearable
          placeholder="The prompt's own model"
          data={(connections.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("connectionId")}
        />
        <TextInput
          label="Model"
          placeholder="The connection's default"
          disabled={form.values.connectionId === null}
          {...form.getInputProps("model")}
        />
      </Group>
      <Template form={form} />
    </>
  );
}

function EndpointFields({ form }: FieldsProps) {
  const isAssistant = form.values.kind === "assistant";
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label={isAssistant ? "URL of the agent server" : "URL"}
          required
          placeholder="https://agent.example"
          {...form.getInputProps("url")}
        />
        {isAssistant && (
          <TextInput label="Assistant" required placeholder="agent" {...form.getInputProps("assistantId")} />
        )}
      </Group>
      <Template form={form} />
      <TextInput
        label="Output"
        description="Path or JSON with {{output.…}}; without it, the whole answer."
        placeholder={isAssistant ? "{{output.messages.-1.content}}" : "{{output.answer}}"}
        {...form.getInputProps("output")}
      />
      <Textarea
        label="Headers"
        description="One a line. Secrets of the workspace are written as {{secrets.KEY}}."
        placeholder="X-Api-Key: {{secrets.AGENT_KEY}}"
        autosize
        minRows={1}
        maxRows={6}
        {...form.getInputProps("headers")}
      />
    </>
  );
}

function Template({ form }: FieldsProps) {
  return (
    <Textarea
      label={INPUT_LABELS[form.values.kind]}
      description="JSON with {{inputs.…}} of the example; without it, the example's inputs."
      placeholder={
        form.values.kind === "assistant"
          ? '{"messages": [{"role": "user", "content": "{{inputs.question}}"}]}'
          : '{"question": "{{inputs.question}}"}'
      }
      autosize
      minRows={1}
      maxRows={8}
      {...form.getInputProps("input")}
    />
  );
}
