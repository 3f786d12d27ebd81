import { Alert, Box, Group, MultiSelect, Select, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";

import { Chart } from "../../ui/chart.tsx";
import { FormModal } from "../../ui/form-modal.tsx";
import type { TimeRange } from "../../ui/time-range.ts";
import { useProjectChoices } from "../projects/use-project-choices.ts";
import { FilterField } from "../runs/filter-field.tsx";
import { workspacesQuery } from "../../app/queries.ts";
import { formatOf, toLines } from "./chart-series.ts";
import {
  AGENT_METRIC_LABELS,
  bodyOf,
  type ChartValues,
  isFeedbackMetric,
  METRIC_LABELS,
  UNITS,
  valuesOf,
} from "./chart-values.ts";
import { GroupPicker } from "./group-picker.tsx";
import { HeatMap } from "./heat-map.tsx";
import { type ChartBody, type ChartData, type Owner, previewQuery } from "./queries.ts";

interface ChartFormProps {
  dashboardId: string;
  owner: Owner;
  /** Absent for a new one. */
  initial?: ChartData | undefined;
  projectId?: string | undefined;
  sections: readonly string[];
  range: TimeRange;
  onSave: (body: ChartBody) => Promise<unknown>;
  onClose: () => void;
}

const DISPLAYS = [
  { value: "line", label: "Lines" },
  { value: "bar", label: "Bars" },
  { value: "table", label: "Table" },
  { value: "number", label: "Number" },
  { value: "heatmap", label: "Heat map of latency" },
];
const choicesOf = (labels: Record<string, string>) =>
  Object.entries(labels)
    .filter(([value]) => value !== "latency_counts")
    .map(([value, label]) => ({ value, label }));
const RUN_METRICS = choicesOf(METRIC_LABELS);
const AGENT_METRICS = choicesOf(AGENT_METRIC_LABELS);

/** Form of a chart, with a preview over the dashboard's period. */
export function ChartForm({ dashboardId, owner, initial, projectId, range, onSave, onClose }: ChartFormProps) {
  const form = useForm<ChartValues>({ initialValues: valuesOf(initial, projectId) });
  const { values } = form;
  const isOfOrganization = owner === "organization";
  const workspaces = useQuery({ ...workspacesQuery, enabled: isOfOrganization });
  const choices = useProjectChoices(values.projectId, !isOfOrganization);
  const isOfAgents = values.unit === "agents";
  const metrics = (isOfAgents ? AGENT_METRICS : RUN_METRICS).filter(
    ({ value }) => !isOfOrganization || !isFeedbackMetric(value),
  );
  const isHeatMap = values.display === "heatmap" && !isOfAgents;
  const chooseUnit = (unit: string | null) => {
    if ((unit === "agents") !== isOfAgents) {
      form.setValues({ metrics: [unit === "agents" ? "agent_run_count" : "run_count"], group: "", denominator: "" });
      if (values.display === "heatmap") form.setFieldValue("display", "line");
    }
    form.setFieldValue("unit", unit as ChartValues["unit"]);
  };
  const isReady = isHeatMap || values.metrics.length > 0;
  return (
    <FormModal
      title={initial ? "Edit chart" : "New chart"}
      action={initial ? "Save" : "Add"}
      failure="Could not save the chart"
      form={form}
      isReady={isReady}
      onSubmit={async () => {
        await onSave(bodyOf(values, initial, dashboardId));
        onClose();
      }}
      onClose={onClose}
    >
      <TextInput
        label="Title"
        placeholder="The metric's name"
        maxLength={512}
        data-autofocus
        {...form.getInputProps("title")}
      />
      <Group grow align="flex-start">
        <Select
          label="Show as"
          data={isOfAgents ? DISPLAYS.filter(({ value }) => value !== "heatmap") : DISPLAYS}
          allowDeselect={false}
          {...form.getInputProps("display")}
        />
        <Select
          label="Of"
          data={Object.entries(UNITS).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          value={values.unit}
          onChange={chooseUnit}
        />
      </Group>
      {!isHeatMap && (
        <MultiSelect label="Metrics" data={metrics} searchable maxValues={10} {...form.getInputProps("metrics")} />
      )}
      {values.metrics.some(isFeedbackMetric) && !isHeatMap && (
        <TextInput label="Feedback key" placeholder="All keys" maxLength={180} {...form.getInputProps("feedbackKey")} />
      )}
      {isOfOrganization ? (
        <Select
          label="Workspace"
          placeholder="All workspaces"
          clearable
          searchable
          data={(workspaces.data ?? []).map(({ id, display_name: label }) => ({ value: id, label }))}
          {...form.getInputProps("workspaceId")}
        />
      ) : (
        <Select
          label="Project"
          placeholder="All projects"
          clearable
          searchable
          data={choices}
          {...form.getInputProps("projectId")}
        />
      )}
      {!isOfAgents && (
        <FilterField
          label="Filter"
          value={values.filter}
          facts={[]}
          isLive
          onApply={(filter) => form.setFieldValue("filter", filter)}
        />
      )}
      {!isHeatMap && (
        <Select
          label="Divide by"
          description="Of the same runs without the filter: Count by Count is the share that passes it"
          placeholder="Nothing"
          clearable
          searchable
          data={metrics}
          value={values.denominator || null}
          onChange={(metric) => form.setFieldValue("denominator", metric ?? "")}
        />
      )}
      <Group grow align="flex-end">
        <GroupPicker
          label="Group by"
          isOfAgents={isOfAgents}
          value={values.group === "" ? undefined : values.group}
          onChange={(group) => form.setFieldValue("group", group ?? "")}
        />
        <TextInput label="Section" placeholder="None" maxLength={100} {...form.getInputProps("section")} />
      </Group>
      {isReady && <Preview owner={owner} body={bodyOf(values, initial, dashboardId)} range={range} />}
    </FormModal>
  );
}

function Preview({ owner, body, range }: { owner: Owner; body: ChartBody; range: TimeRange }) {
  const [settled] = useDebouncedValue(JSON.stringify(body), 400);
  const shown = JSON.parse(settled) as ChartBody;
  const { data, error } = useQuery(previewQuery(owner, shown, range));
  if (error) return <Alert color="danger">{error.message}</Alert>;
  const series = shown.series.map((one, index) => ({ ...one, id: String(index) })) as unknown as ChartData["series"];
  const metric = shown.series[0]?.metric ?? "";
  if (metric === "latency_counts") {
    return <Box mih={180}>{data && <HeatMap title="Preview" data={data.data} height={180} />}</Box>;
  }
  const lines = toLines({ series, data: data?.data ?? [] });
  return <Chart title="Preview" times={lines.times} series={lines.series} format={formatOf(metric)} />;
}
