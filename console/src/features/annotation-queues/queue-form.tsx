import { Group, MultiSelect, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { workspaceMembersQuery } from "../settings/queries.ts";
import { datasetChoicesQuery } from "../traces/queries.ts";
import { feedbackConfigsQuery } from "./queries.ts";
import { bodyOf, type QueueFields, type QueueValues, valuesOf } from "./queue-values.ts";
import { RubricDetails } from "./rubric-details-fields.tsx";

interface QueueFormProps {
  /** Absent for a new one. */
  initial?: QueueFields;
  onSaved: (id: string) => unknown;
  onClose: () => void;
}

/** Form for a queue: its name, rubric, reviewers and dataset of corrections. */
export function QueueForm({ initial, onSaved, onClose }: QueueFormProps) {
  const client = useQueryClient();
  const configs = useQuery(feedbackConfigsQuery);
  const datasets = useQuery(datasetChoicesQuery);
  const members = useQuery({ ...workspaceMembersQuery, retry: false });
  const form = useForm({ initialValues: valuesOf(initial) });
  const save = async (values: QueueValues) => {
    const body = bodyOf(values, initial);
    const params = { path: { queue_id: initial?.id ?? "" } };
    const saved = initial
      ? await data(traceApi.PATCH("/api/v1/annotation-queues/{queue_id}", { params, body }))
      : await data(traceApi.POST("/api/v1/annotation-queues", { body: { ...body, ...queueType(values.isPairwise) } }));
    await assign(saved.id, initial?.assigned_reviewers.map((reviewer) => reviewer.id) ?? [], values.reviewers);
    await client.invalidateQueries({ queryKey: ["annotation-queues"] });
    await client.invalidateQueries({ queryKey: ["annotation-queue", saved.id] });
    onClose();
    await onSaved(saved.id);
  };
  const people = members.data?.members ?? [];
  return (
    <FormModal
      title={initial ? "Edit annotation queue" : "New annotation queue"}
      action={initial ? "Save" : "Create"}
      failure="Could not save the annotation queue"
      form={form}
      isReady={form.values.name.trim() !== ""}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus maxLength={512} {...form.getInputProps("name")} />
      <Textarea label="Description" autosize minRows={1} maxRows={6} {...form.getInputProps("description")} />
      <Textarea
        label="Instructions"
        description="Markdown that reviewers see beside each run."
        autosize
        minRows={2}
        maxRows={12}
        {...form.getInputProps("instructions")}
      />
      <TagsInput
        label="Rubric"
        description="Feedback keys, in their order. A key's configuration decides how it is answered; without one, by thumbs."
        data={(configs.data ?? []).map((config) => config.feedback_key)}
        {...form.getInputProps("keys")}
      />
      {form.values.keys.length > 0 && (
        <MultiSelect label="Required keys" data={form.values.keys} {...form.getInputProps("required")} />
      )}
      {form.values.keys.length > 0 && (
        <RubricDetails
          keys={form.values.keys}
          details={form.values.details}
          onChange={(details) => form.setFieldValue("details", details)}
        />
      )}
      {!initial && (
        <Switch
          label="Pairwise: reviewers choose the better of two runs"
          {...form.getInputProps("isPairwise", { type: "checkbox" })}
        />
      )}
      <Group grow align="flex-start">
        <NumberInput
          label="Reviewers per run"
          placeholder="All assigned ones"
          min={1}
          max={100}
          allowDecimal={false}
          {...form.getInputProps("reviewersPerItem")}
        />
        <NumberInput
          label="Reservation in minutes"
          min={1}
          max={10_080}
          allowDecimal={false}
          disabled={!form.values.reserves}
          {...form.getInputProps("minutes")}
        />
      </Group>
      <Switch
        label="Reserve a run for the reviewer who has it open"
        {...form.getInputProps("reserves", { type: "checkbox" })}
      />
      <Select
        label="Dataset for corrections"
        clearable
        searchable
        placeholder="None"
        data={(datasets.data ?? []).map((dataset) => ({ value: dataset.id, label: dataset.name }))}
        {...form.getInputProps("datasetId")}
      />
      {people.length > 0 && (
        <>
          <MultiSelect
            label="Reviewers"
            searchable
            data={people.map((member) => ({ value: member.id, label: member.display_name ?? member.email }))}
            {...form.getInputProps("reviewers")}
          />
          <Switch label="Only these reviewers" {...form.getInputProps("isAssigned", { type: "checkbox" })} />
        </>
      )}
    </FormModal>
  );
}

const queueType = (isPairwise: boolean) => ({ queue_type: isPairwise ? ("pairwise" as const) : ("single" as const) });

/** Adds and removes reviewers until they are the wanted ones. */
async function assign(queueId: string, before: readonly string[], after: readonly string[]): Promise<void> {
  for (const id of after.filter((each) => !before.includes(each))) {
    const params = { path: { queue_id: queueId } };
    const body = { identity_id: id };
    await traceApi.POST("/v1/platform/annotation-queues/{queue_id}/reviewers", { params, body });
  }
  for (const id of before.filter((each) => !after.includes(each))) {
    const params = { path: { queue_id: queueId, identity_id: id } };
    await traceApi.DELETE("/v1/platform/annotation-queues/{queue_id}/reviewers/{identity_id}", { params });
  }
}
