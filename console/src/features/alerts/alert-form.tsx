import { ActionIcon, Button, Fieldset, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { useProjectChoices } from "../projects/use-project-choices.ts";
import { FilterField } from "../runs/filter-field.tsx";
import { organizationQuery } from "../settings/queries.ts";
import { AlertChart } from "./alert-chart.tsx";
import { actionsOf, type AlertValues, isPlatform, ruleOf, valuesOf } from "./alert-values.ts";
import { ChannelFields } from "./channel-fields.tsx";
import { findMetric, METRICS, OPERATORS, PLATFORM_METRICS } from "./describe-alert.ts";
import { type Alert, sessionOf } from "./queries.ts";

interface AlertFormProps {
  /** Absent for a new one. */
  initial?: Alert | undefined;
  projectId?: string | null;
  onSaved: (id: string) => unknown;
  onClose: () => void;
}

const PREVIEW_HOURS = 336;

/** Form for an alert rule, with a preview of its past. */
export function AlertForm({ initial, projectId = null, onSaved, onClose }: AlertFormProps) {
  const client = useQueryClient();
  const form = useForm<AlertValues>({ initialValues: valuesOf(initial, projectId) });
  const { values } = form;
  const rule = ruleOf(values);
  const [settled] = useDebouncedValue(JSON.stringify({ ...rule, name: "Alert" }), 500);
  const save = async () => {
    const body = { rule: rule!, actions: actionsOf(values) };
    const session_id = sessionOf(values.projectId);
    const saved = initial
      ? await data(
          traceApi.PATCH("/v1/platform/alerts/{session_id}/{alert_rule_id}", {
            params: { path: { session_id, alert_rule_id: initial.rule.id } },
            body,
          }),
        )
      : await data(traceApi.POST("/v1/platform/alerts/{session_id}", { params: { path: { session_id } }, body }));
    await client.invalidateQueries({ queryKey: ["alerts"] });
    onClose();
    await onSaved(saved.rule.id);
  };
  return (
    <FormModal
      title={initial ? "Edit alert" : "New alert"}
      action={initial ? "Save" : "Create"}
      failure="Could not save the alert"
      form={form}
      isReady={values.name.trim() !== "" && rule !== null}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus maxLength={200} {...form.getInputProps("name")} />
      {(!isPlatform(values.metric) || values.type === "absence") && <Scope form={form} isNew={initial === undefined} />}
      <Condition form={form} />
      <Timing form={form} />
      <AlertChart
        projectId={values.projectId}
        rule={rule === null ? null : (JSON.parse(settled) as typeof rule)}
        hours={PREVIEW_HOURS}
      />
      <ChannelFields
        channels={values.channels}
        onChange={(channels) => form.setFieldValue("channels", channels)}
        projectId={values.projectId}
        alertId={initial?.rule.id}
        rule={rule}
      />
    </FormModal>
  );
}

function Scope({ form, isNew }: { form: UseFormReturnType<AlertValues>; isNew: boolean }) {
  const { projectId, filter, group } = form.values;
  const choices = useProjectChoices(projectId);
  return (
    <Fieldset legend="Runs">
      <Stack gap="xs">
        <Group grow align="flex-start">
          <Select
            label="Project"
            placeholder="All projects"
            clearable
            searchable
            disabled={!isNew}
            data={choices}
            {...form.getInputProps("projectId")}
          />
          <Select
            label="Group by"
            allowDeselect={false}
            data={[
              { value: "", label: "Nothing" },
              { value: "model", label: "Model" },
              { value: "name", label: "Name" },
              { value: "tag", label: "Tag" },
              { value: "run_type", label: "Run type" },
              { value: "error_kind", label: "Kind of error" },
              { value: "metadata", label: "Metadata" },
            ]}
            {...form.getInputProps("group")}
          />
          {group === "metadata" && <TextInput label="Metadata key" {...form.getInputProps("groupPath")} />}
        </Group>
        <FilterField
          label="Runs where"
          value={filter}
          isLive
          facts={[]}
          onApply={(value) => form.setFieldValue("filter", value)}
        />
      </Stack>
    </Fieldset>
  );
}

function Condition({ form }: { form: UseFormReturnType<AlertValues> }) {
  const { type, metric } = form.values;
  const isAbsence = type === "absence";
  const { data: organization } = useQuery(organizationQuery);
  const isAdministrator = organization?.permissions.includes("organization:manage") === true;
  const offered = { ...METRICS, ...(isAdministrator && form.values.projectId === null && PLATFORM_METRICS) };
  const known = Object.entries(offered).map(([value, { label }]) => ({ value, label }));
  const metrics = Object.hasOwn(offered, metric)
    ? known
    : [...known, { value: metric, label: findMetric(metric)?.label ?? metric.replaceAll("_", " ") }];
  return (
    <Fieldset legend="Condition">
      <Stack gap="xs">
        <Group grow align="flex-start">
          <Select
            label="Fires on"
            allowDeselect={false}
            data={[
              { value: "threshold", label: "A threshold" },
              { value: "change", label: "A change" },
              { value: "absence", label: "No runs" },
            ]}
            {...form.getInputProps("type")}
          />
          {!isAbsence && (
            <Select label="Metric" allowDeselect={false} data={metrics} {...form.getInputProps("metric")} />
          )}
          <NumberInput label="Window" suffix=" min" min={1} max={10_080} {...form.getInputProps("window")} />
        </Group>
        {!isAbsence && (
          <Group grow align="flex-start">
            <Select
              label="Is"
              allowDeselect={false}
              data={Object.entries(OPERATORS).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps("operator")}
            />
            {type === "threshold" ? (
              <NumberInput label={`Threshold ${findMetric(metric)?.unit ?? ""}`} {...form.getInputProps("threshold")} />
            ) : (
              <NumberInput
                label="Change to the previous period"
                suffix="%"
                min={-100}
                {...form.getInputProps("percent")}
              />
            )}
            {type === "threshold" && (
              <NumberInput
                label="Resolves at"
                placeholder="The threshold"
                {...form.getInputProps("resolveThreshold")}
              />
            )}
          </Group>
        )}
        {metric.endsWith(" pct") && !isAbsence && (
          <FilterField
            label="In percent of the runs where"
            value={form.values.denominator}
            isLive
            facts={[]}
            onApply={(value) => form.setFieldValue("denominator", value)}
          />
        )}
        {type === "change" && (
          <NumberInput
            label="Length of the previous period"
            placeholder="That of the window"
            suffix=" min"
            min={1}
            max={10_080}
            {...form.getInputProps("baseline")}
          />
        )}
        {metric.startsWith("feedback") && !isAbsence && (
          <TextInput label="Feedback key" placeholder="All keys" {...form.getInputProps("feedbackKey")} />
        )}
        <Group grow align="flex-start">
          <NumberInput label="Evaluations in a row" min={1} max={60} {...form.getInputProps("evaluations")} />
          {!isAbsence && !isPlatform(metric) && (
            <NumberInput label="Minimum of runs" min={0} {...form.getInputProps("minRuns")} />
          )}
          <Select
            label="Severity"
            allowDeselect={false}
            data={["info", "warning", "error", "critical"]}
            {...form.getInputProps("severity")}
          />
        </Group>
      </Stack>
    </Fieldset>
  );
}

function Timing({ form }: { form: UseFormReturnType<AlertValues> }) {
  return (
    <Fieldset legend="Timing">
      <Stack gap="xs">
        <Group grow align="flex-start">
          <NumberInput label="Evaluate every" suffix=" min" min={1} max={60} {...form.getInputProps("interval")} />
          <NumberInput label="Delay" suffix=" min" min={0} max={60} {...form.getInputProps("delay")} />
          <Select
            label="Without data, an incident"
            allowDeselect={false}
            data={[
              { value: "resolve", label: "Ends" },
              { value: "keep", label: "Keeps its state" },
            ]}
            {...form.getInputProps("noData")}
          />
        </Group>
        {form.values.maintenance.map((_, index) => (
          <Group key={index} gap="xs" align="flex-end" wrap="nowrap">
            <TextInput
              type="datetime-local"
              label="No messages from"
              flex={1}
              {...form.getInputProps(`maintenance.${index}.from`)}
            />
            <TextInput
              type="datetime-local"
              label="until"
              flex={1}
              {...form.getInputProps(`maintenance.${index}.to`)}
            />
            <ActionIcon
              variant="default"
              size={36}
              aria-label={`Remove maintenance ${index + 1}`}
              onClick={() => form.removeListItem("maintenance", index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => form.insertListItem("maintenance", { from: "", to: "" })}
          >
            Add maintenance
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
