import { Button, Group, SegmentedControl, Select, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { agentApi, data } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { readJson, readObject, writeJson } from "../../ui/json-text.ts";
import { localText } from "../../ui/time-range.ts";
import { NextTimes } from "./next-times.tsx";
import { ownZone } from "./occurrences.ts";
import { assistantNamesQuery, type Cron } from "./queries.ts";

interface CronFormProps {
  server: string;
  /** Absent for a new one. */
  cron?: Cron | undefined;
  onClose: () => void;
  onSaved: (cron: Cron) => void;
}

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

const PRESETS = [
  { label: "Hourly", schedule: "0 * * * *" },
  { label: "Daily", schedule: "0 9 * * *" },
  { label: "Weekdays", schedule: "0 9 * * 1-5" },
  { label: "Weekly", schedule: "0 9 * * 1" },
];

export function CronForm({ server, cron, onClose, onSaved }: CronFormProps) {
  const queryClient = useQueryClient();
  const { data: assistants = [] } = useQuery(assistantNamesQuery(server));
  const form = useForm({
    initialValues: {
      assistant: cron?.assistant_id ?? null,
      schedule: cron?.schedule ?? "0 9 * * *",
      timezone: cron ? (cron.timezone ?? "UTC") : ownZone(),
      end: cron?.end_time == null ? "" : localText(Date.parse(cron.end_time)),
      thread: "",
      kept: cron?.on_run_completed ?? "keep",
      input: writeJson(cron?.payload["input"] ?? {}),
      metadata: writeJson(cron?.metadata ?? {}),
      webhook: textOrEmpty(cron?.payload["webhook"]),
      enabled: cron?.enabled ?? true,
    },
  });
  const { schedule, timezone, end, thread } = form.values;
  const assistant = form.values.assistant ?? assistants[0]?.assistant_id ?? "";
  const endTime = end === "" ? null : new Date(end).toISOString();
  const hasThread = cron ? cron.thread_id !== null : thread.trim() !== "";
  const save = async ({ kept, input, metadata, enabled, ...values }: typeof form.values) => {
    const webhook = values.webhook.trim();
    const body = {
      schedule,
      assistant_id: assistant,
      timezone,
      end_time: endTime,
      enabled,
      input: readJson(input.trim() === "" ? "null" : input, "Input"),
      metadata: readObject(metadata, "Metadata"),
      ...(!hasThread && { on_run_completed: kept }),
      ...(cron ? { webhook: webhook === "" ? null : webhook } : webhook !== "" && { webhook }),
    };
    const api = agentApi(server);
    const saved = await data<unknown>(
      cron
        ? api.PATCH("/runs/crons/{cron_id}", { params: { path: { cron_id: cron.cron_id } }, body })
        : hasThread
          ? api.POST("/threads/{thread_id}/runs/crons", { params: { path: { thread_id: thread.trim() } }, body })
          : api.POST("/runs/crons", { body }),
    );
    await queryClient.invalidateQueries({ queryKey: ["agent", server, "crons"] });
    onSaved(saved as Cron);
  };
  return (
    <FormModal
      title={cron ? "Edit cron" : "New cron"}
      action={cron ? "Save" : "Create"}
      form={form}
      isReady={assistant !== ""}
      onSubmit={save}
      onClose={onClose}
    >
      <Select
        label="Assistant"
        data={assistants.map(({ assistant_id: id, name, graph_id: graph }) => ({
          value: id,
          label: name === graph ? name : `${name} (${graph})`,
        }))}
        allowDeselect={false}
        searchable
        required
        {...form.getInputProps("assistant")}
        value={assistant}
      />
      <Group grow align="start">
        <TextInput
          label="Schedule"
          description="Minute, hour, day of month, month, day of week; or @daily"
          required
          data-autofocus
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          {...form.getInputProps("schedule")}
        />
        <Select
          label="Time zone"
          description="The schedule is evaluated in this time zone."
          data={ZONES.includes(timezone) ? ZONES : [timezone, ...ZONES]}
          searchable
          allowDeselect={false}
          limit={100}
          {...form.getInputProps("timezone")}
        />
      </Group>
      <Group gap="xs" role="group" aria-label="Presets">
        {PRESETS.map((preset) => (
          <Button
            key={preset.label}
            size="compact-xs"
            variant="default"
            title={preset.schedule}
            onClick={() => form.setFieldValue("schedule", preset.schedule)}
          >
            {preset.label}
          </Button>
        ))}
      </Group>
      <NextTimes schedule={schedule} timezone={timezone} endTime={endTime} />
      <TextInput
        label="End"
        description={`Stops after this time (${ownZone()}). Leave empty to run indefinitely.`}
        type="datetime-local"
        {...form.getInputProps("end")}
      />
      {!cron && (
        <TextInput
          label="Thread"
          description="Reuse this thread for all runs. Leave empty to create a new thread for each run."
          placeholder="Thread ID"
          {...form.getInputProps("thread")}
        />
      )}
      {!hasThread && (
        <div>
          <Text size="sm" fw={500} mb={4}>
            Thread after the run ends
          </Text>
          <SegmentedControl
            size="xs"
            aria-label="Thread after the run ends"
            data={[
              { value: "keep", label: "Keep" },
              { value: "delete", label: "Delete" },
            ]}
            {...form.getInputProps("kept")}
          />
        </div>
      )}
      <JsonField label="Input" description="Input of each run." {...form.getInputProps("input")} />
      <JsonField label="Metadata" minHeight="3rem" {...form.getInputProps("metadata")} />
      <TextInput
        label="Webhook"
        description="URL that receives a POST request when a run ends."
        placeholder="https://"
        {...form.getInputProps("webhook")}
      />
      <Switch label="Enabled" {...form.getInputProps("enabled", { type: "checkbox" })} />
    </FormModal>
  );
}

const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");
