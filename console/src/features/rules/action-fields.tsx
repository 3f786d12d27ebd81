import { Fieldset, Group, NumberInput, Select, Stack, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";

import { queueChoicesQuery } from "../annotation-queues/queries.ts";
import { datasetChoicesQuery } from "../traces/queries.ts";
import { evaluatorChoicesQuery } from "./queries.ts";
import type { RuleValues } from "./rule-values.ts";

/** Fields of a rule's actions. An empty one does nothing. */
export function ActionFields({ form }: { form: UseFormReturnType<RuleValues> }) {
  return (
    <Fieldset legend="Actions">
      <Stack gap="xs">
        <Judge form={form} />
        <Targets form={form} />
        <Marks form={form} />
        <Messages form={form} />
        <Switch
          label="Keep the traces for the longer retention"
          {...form.getInputProps("extendsRetention", { type: "checkbox" })}
        />
      </Stack>
    </Fieldset>
  );
}

type Props = { form: UseFormReturnType<RuleValues> };

function Judge({ form }: Props) {
  const evaluators = useQuery(evaluatorChoicesQuery);
  const { evaluatorId } = form.values;
  const isJudge = evaluators.data?.evaluators.find(({ id }) => id === evaluatorId)?.type === "llm";
  const choose = (id: string | null) => {
    const chosen = evaluators.data?.evaluators.find((one) => one.id === id);
    const examples = chosen?.llm_evaluator?.num_few_shot_examples ?? 0;
    form.setValues({ evaluatorId: id, examples });
  };
  return (
    <>
      <Select
        label="Evaluate with"
        placeholder="No evaluator"
        clearable
        searchable
        data={(evaluators.data?.evaluators ?? [])
          .filter(({ subject }) => subject !== "pair")
          .map(({ id, name }) => ({ value: id, label: name }))}
        value={evaluatorId}
        onChange={choose}
      />
      {evaluatorId !== null && (
        <>
          {isJudge && (
            <NumberInput
              label="Corrections as examples"
              description="The judge sees the newest of its judgements that people corrected. All rules of an evaluator share this."
              min={0}
              max={20}
              allowDecimal={false}
              {...form.getInputProps("examples")}
            />
          )}
          <Switch
            label="Add judged runs to the evaluator's alignment queue"
            description="People label them there, and the evaluator's page compares."
            {...form.getInputProps("alignmentQueue", { type: "checkbox" })}
          />
        </>
      )}
      {evaluatorId !== null && (
        <Group grow align="flex-start">
          <NumberInput
            label="Spend limit"
            placeholder="None"
            prefix="$"
            min={0}
            decimalScale={6}
            {...form.getInputProps("spendLimit")}
          />
          <Select
            label="Per"
            allowDeselect={false}
            data={[
              { value: "daily", label: "Day" },
              { value: "weekly", label: "Week" },
              { value: "monthly", label: "Month" },
            ]}
            {...form.getInputProps("spendWindow")}
          />
        </Group>
      )}
    </>
  );
}

function Targets({ form }: Props) {
  const queues = useQuery(queueChoicesQuery);
  const datasets = useQuery(datasetChoicesQuery);
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label="Add to annotation queue"
          placeholder="None"
          clearable
          searchable
          data={(queues.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("queueId")}
        />
        <Select
          label="Add to dataset"
          placeholder="None"
          clearable
          searchable
          data={(datasets.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("targetDatasetId")}
        />
      </Group>
      {form.values.targetDatasetId !== null && (
        <>
          <Switch
            label="Use a run's correction as outputs, where there is one"
            {...form.getInputProps("prefersCorrection", { type: "checkbox" })}
          />
          <Textarea
            label="Mapping"
            description="JSON of the example's fields by their paths in the run; empty: as the dataset maps runs."
            placeholder='{"inputs": {"question": "inputs.messages[0].content"}}'
            autosize
            minRows={1}
            maxRows={8}
            ff="monospace"
            {...form.getInputProps("mapping")}
          />
        </>
      )}
    </>
  );
}

function Marks({ form }: Props) {
  return (
    <>
      <TagsInput label="Add tags" {...form.getInputProps("tags")} />
      <Group grow align="flex-start">
        <TextInput label="Give feedback" placeholder="Key" maxLength={180} {...form.getInputProps("feedbackKey")} />
        <NumberInput
          label="Score"
          placeholder="None"
          disabled={form.values.feedbackKey.trim() === ""}
          {...form.getInputProps("feedbackScore")}
        />
      </Group>
    </>
  );
}

function Messages({ form }: Props) {
  return (
    <>
      <TextInput label="Call webhook" placeholder="https://…" maxLength={4096} {...form.getInputProps("webhookUrl")} />
      {form.values.webhookUrl.trim() !== "" && (
        <>
          <Textarea
            label="Headers"
            description="One per line, as Name: value. Stored encrypted."
            autosize
            minRows={1}
            maxRows={6}
            {...form.getInputProps("webhookHeaders")}
          />
          <Switch
            label="Include statistics of feedback"
            {...form.getInputProps("includesStats", { type: "checkbox" })}
          />
        </>
      )}
      <Group grow align="flex-start">
        <TextInput
          label="Alert PagerDuty"
          placeholder="Routing key"
          autoComplete="off"
          maxLength={256}
          {...form.getInputProps("pagerdutyKey")}
        />
        <Select
          label="Severity"
          allowDeselect={false}
          disabled={form.values.pagerdutyKey.trim() === ""}
          data={["critical", "error", "warning", "info"]}
          {...form.getInputProps("pagerdutySeverity")}
        />
      </Group>
    </>
  );
}
