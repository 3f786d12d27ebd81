import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { actionsOf, channelOf, type ChannelValues } from "../alerts/alert-values.ts";
import { ChannelFields } from "../alerts/channel-fields.tsx";
import { useProjectChoices } from "../projects/use-project-choices.ts";
import { FilterField } from "../runs/filter-field.tsx";
import type { Budget, BudgetBody } from "./queries.ts";

interface BudgetFormProps {
  /** Absent for a new one. */
  initial?: Budget;
  onSaved: (id: string) => unknown;
  onClose: () => void;
}

/** Values of the form. Numbers may be empty text while they are typed. */
interface BudgetValues {
  name: string;
  projectId: string | null;
  limit: number | string;
  per: Budget["per"];
  userKey: string;
  filter: string;
  thresholds: string;
  forecast: number | string;
  timeZone: string;
  channels: ChannelValues[];
}

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

const valuesOf = (budget: Budget | undefined): BudgetValues => ({
  name: budget?.name ?? "",
  projectId: budget?.session_id ?? null,
  limit: budget?.limit_usd ?? "",
  per: budget?.per ?? "total",
  userKey: budget?.user_key ?? "user_id",
  filter: budget?.filter ?? "",
  thresholds: (budget?.thresholds ?? [50, 80, 100]).join(", "),
  forecast: budget ? (budget.forecast_threshold ?? "") : 100,
  timeZone: budget?.time_zone ?? ownZone(),
  channels: budget?.actions.map(channelOf) ?? [],
});

/** @returns null while the values are incomplete */
function bodyOf(values: BudgetValues): Omit<BudgetBody, "session_id" | "actions"> | null {
  const levels = values.thresholds.split(/[\s,;%]+/).filter((level) => level !== "");
  const thresholds = levels.map(Number);
  if (typeof values.limit !== "number" || values.limit <= 0 || values.name.trim() === "") return null;
  if (!thresholds.every((level) => Number.isInteger(level) && level > 0)) return null;
  return {
    name: values.name.trim(),
    limit_usd: values.limit,
    per: values.per,
    user_key: values.userKey.trim() || null,
    filter: values.filter,
    thresholds,
    forecast_threshold: typeof values.forecast === "number" ? values.forecast : null,
    time_zone: values.timeZone.trim() || null,
  };
}

export function BudgetForm({ initial, onSaved, onClose }: BudgetFormProps) {
  const client = useQueryClient();
  const form = useForm<BudgetValues>({ initialValues: valuesOf(initial) });
  const { values } = form;
  const body = bodyOf(values);
  const choices = useProjectChoices(values.projectId);
  const save = async () => {
    const actions = actionsOf(values);
    const saved = initial
      ? await data(
          traceApi.PATCH("/v1/platform/budgets/{budget_id}", {
            params: { path: { budget_id: initial.id } },
            body: { ...body!, actions },
          }),
        )
      : await data(
          traceApi.POST("/v1/platform/budgets", { body: { ...body!, actions, session_id: values.projectId } }),
        );
    await client.invalidateQueries({ queryKey: ["budgets"] });
    onClose();
    await onSaved(saved.id);
  };
  return (
    <FormModal
      title={initial ? "Edit budget" : "New budget"}
      action={initial ? "Save" : "Create"}
      failure="Could not save the budget"
      form={form}
      isReady={body !== null}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus maxLength={200} {...form.getInputProps("name")} />
      <Group grow align="flex-start">
        <NumberInput label="Limit per month" required prefix="$" min={0} {...form.getInputProps("limit")} />
        <Select
          label="Applies to"
          allowDeselect={false}
          data={[
            { value: "total", label: "The whole" },
            { value: "user", label: "Each user" },
          ]}
          {...form.getInputProps("per")}
        />
        <TextInput label="Metadata key of the user" maxLength={250} {...form.getInputProps("userKey")} />
      </Group>
      <Group grow align="flex-start">
        <Select
          label="Project"
          placeholder="All projects"
          clearable
          searchable
          disabled={initial !== undefined}
          data={choices}
          {...form.getInputProps("projectId")}
        />
        <TextInput label="Time zone" placeholder="UTC" {...form.getInputProps("timeZone")} />
      </Group>
      <FilterField
        label="Traces where"
        value={values.filter}
        facts={[]}
        onApply={(value) => form.setFieldValue("filter", value)}
      />
      <Group grow align="flex-start">
        <TextInput label="Tell at (% of the limit)" {...form.getInputProps("thresholds")} />
        <NumberInput
          label="Tell at a forecast of"
          placeholder="Never"
          suffix="%"
          min={1}
          max={1000}
          allowDecimal={false}
          {...form.getInputProps("forecast")}
        />
      </Group>
      <ChannelFields
        channels={values.channels}
        onChange={(channels) => form.setFieldValue("channels", channels)}
        projectId={values.projectId}
        alertId={initial?.id}
      />
    </FormModal>
  );
}
