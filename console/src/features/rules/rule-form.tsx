import { Fieldset, Group, NumberInput, Select, Stack, Switch, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { FilterField } from "../runs/filter-field.tsx";
import { datasetChoicesQuery } from "../traces/queries.ts";
import { ActionFields } from "./action-fields.tsx";
import { useProjectChoices } from "../projects/use-project-choices.ts";
import type { Rule } from "./queries.ts";
import { RulePreviewView } from "./rule-preview.tsx";
import { bodyOf, hasAction, type RuleValues, valuesOf } from "./rule-values.ts";

interface RuleFormProps {
  /** Absent for a new one. */
  initial?: Rule | undefined;
  projectId?: string | undefined;
  filter?: string | undefined;
  traceFilter?: string | undefined;
  treeFilter?: string | undefined;
  onSaved: (id: string) => unknown;
  onClose: () => void;
}

/** Form for a rule: which runs it looks at, what it does with them, and whether with older ones too. */
export function RuleForm({ initial, onSaved, onClose, ...fresh }: RuleFormProps) {
  const client = useQueryClient();
  const form = useForm<RuleValues>({ initialValues: valuesOf(initial, fresh) });
  const { values } = form;
  const save = async () => {
    const body = bodyOf(values, initial, Date.now());
    const saved = initial
      ? await data(traceApi.PATCH("/api/v1/runs/rules/{rule_id}", { params: { path: { rule_id: initial.id } }, body }))
      : await data(traceApi.POST("/api/v1/runs/rules", { body }));
    await client.invalidateQueries({ queryKey: ["rules"] });
    onClose();
    await onSaved(saved.id);
  };
  return (
    <FormModal
      title={initial ? "Edit rule" : "New rule"}
      action={initial ? "Save" : "Create"}
      failure="Could not save the rule"
      form={form}
      isReady={values.name.trim() !== "" && hasAction(values, initial)}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus maxLength={512} {...form.getInputProps("name")} />
      <Scope form={form} />
      <ActionFields form={form} />
      <Fieldset legend="Older runs">
        <Stack gap="xs">
          <Group gap="md" align="flex-end">
            <Switch
              label="Apply to runs of the last"
              mb={6}
              {...form.getInputProps("backfills", { type: "checkbox" })}
            />
            <NumberInput
              aria-label="Days of older runs"
              suffix=" days"
              min={1}
              max={400}
              allowDecimal={false}
              w={110}
              {...form.getInputProps("backfillDays")}
            />
          </Group>
          <RulePreviewView values={values} />
        </Stack>
      </Fieldset>
    </FormModal>
  );
}

function Scope({ form }: { form: ReturnType<typeof useForm<RuleValues>> }) {
  const datasets = useQuery(datasetChoicesQuery);
  const { values } = form;
  const choices = useProjectChoices(values.projectId);
  return (
    <Fieldset legend="Runs">
      <Stack gap="xs">
        <Group grow align="flex-start">
          <Select
            label="Project"
            placeholder="All projects"
            clearable
            searchable
            disabled={values.datasetId !== null}
            data={choices}
            {...form.getInputProps("projectId")}
          />
          <Select
            label="Experiments on dataset"
            placeholder="None"
            clearable
            searchable
            data={(datasets.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps("datasetId")}
          />
        </Group>
        <FilterField
          label="Runs where"
          value={values.filter}
          isLive
          facts={[]}
          onApply={(value) => form.setFieldValue("filter", value)}
        />
        <FilterField
          label="Trace where"
          value={values.traceFilter}
          isLive
          facts={[]}
          onApply={(value) => form.setFieldValue("traceFilter", value)}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Sampling"
            suffix="%"
            min={0}
            max={100}
            decimalScale={4}
            {...form.getInputProps("sampling")}
          />
          <NumberInput
            label="Idle time of a thread"
            suffix=" min"
            min={0.1}
            max={10_080}
            disabled={!values.isOnThreads}
            {...form.getInputProps("idleMinutes")}
          />
        </Group>
        <Switch
          label="Act on whole threads, once they are idle"
          {...form.getInputProps("isOnThreads", { type: "checkbox" })}
        />
      </Stack>
    </Fieldset>
  );
}
