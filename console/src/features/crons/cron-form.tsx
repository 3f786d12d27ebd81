import { Alert, Button, Group, Modal, SegmentedControl, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { agentApi, data } from "../../api/clients.ts";
import { JsonField, readJson, readObject, writeJson } from "../../ui/json-field.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
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
  useFocusBack();
  const queryClient = useQueryClient();
  const { data: assistants = [] } = useQuery(assistantNamesQuery(server));
  const [assistant, setAssistant] = useState<string | null>(cron?.assistant_id ?? null);
  const [schedule, setSchedule] = useState(cron?.schedule ?? "0 9 * * *");
  const [timezone, setTimezone] = useState(cron ? (cron.timezone ?? "UTC") : ownZone());
  const [thread, setThread] = useState("");
  const [end, setEnd] = useState(localTime(cron?.end_time));
  const [enabled, setEnabled] = useState(cron?.enabled ?? true);
  const [kept, setKept] = useState(cron?.on_run_completed ?? "keep");
  const [webhook, setWebhook] = useState(textOrEmpty(cron?.payload["webhook"]));
  const [input, setInput] = useState(writeJson(cron?.payload["input"] ?? {}));
  const [metadata, setMetadata] = useState(writeJson(cron?.metadata ?? {}));
  const chosen = assistant ?? assistants[0]?.assistant_id ?? "";
  const endTime = end === "" ? null : new Date(end).toISOString();
  const hasThread = cron ? cron.thread_id !== null : thread.trim() !== "";
  const save = useMutation({
    async mutationFn() {
      const body = {
        schedule,
        assistant_id: chosen,
        timezone,
        end_time: endTime,
        enabled,
        input: readJson(input.trim() === "" ? "null" : input, "Input"),
        metadata: readObject(metadata, "Metadata"),
        ...(!hasThread && { on_run_completed: kept }),
        ...(cron
          ? { webhook: webhook.trim() === "" ? null : webhook.trim() }
          : webhook.trim() !== "" && { webhook: webhook.trim() }),
      };
      if (cron) {
        const params = { path: { cron_id: cron.cron_id } };
        return data(agentApi(server).PATCH("/runs/crons/{cron_id}", { params, body }));
      }
      if (!hasThread) return data(agentApi(server).POST("/runs/crons", { body }));
      const params = { path: { thread_id: thread.trim() } };
      return data(agentApi(server).POST("/threads/{thread_id}/runs/crons", { params, body }));
    },
    async onSuccess(saved) {
      await queryClient.invalidateQueries({ queryKey: ["agent", server, "crons"] });
      onSaved(saved as Cron);
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={cron ? "Edit cron" : "New cron"}
      size="lg"
      closeButtonProps={{ title: "Close" }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          <Select
            label="Assistant"
            data={assistants.map(({ assistant_id: id, name, graph_id: graph }) => ({
              value: id,
              label: name === graph ? name : `${name} (${graph})`,
            }))}
            value={chosen}
            onChange={setAssistant}
            allowDeselect={false}
            searchable
            required
          />
          <Group grow align="start">
            <TextInput
              label="Schedule"
              description="Minute, hour, day of month, month, day of week; or @daily"
              value={schedule}
              onChange={(event) => setSchedule(event.currentTarget.value)}
              required
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            />
            <Select
              label="Time zone"
              description="The schedule is evaluated in this time zone."
              data={ZONES.includes(timezone) ? ZONES : [timezone, ...ZONES]}
              value={timezone}
              onChange={(zone) => setTimezone(zone ?? "UTC")}
              searchable
              allowDeselect={false}
              limit={100}
            />
          </Group>
          <Group gap="xs" role="group" aria-label="Presets">
            {PRESETS.map((preset) => (
              <Button
                key={preset.label}
                size="compact-xs"
                variant="default"
                title={preset.schedule}
                onClick={() => setSchedule(preset.schedule)}
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
            value={end}
            onChange={(event) => setEnd(event.currentTarget.value)}
          />
          {!cron && (
            <TextInput
              label="Thread"
              description="Reuse this thread for all runs. Leave empty to create a new thread for each run."
              placeholder="Thread ID"
              value={thread}
              onChange={(event) => setThread(event.currentTarget.value)}
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
                value={kept}
                onChange={(value) => setKept(value as Cron["on_run_completed"])}
              />
            </div>
          )}
          <JsonField label="Input" description="Input of each run." value={input} onChange={setInput} />
          <JsonField label="Metadata" value={metadata} onChange={setMetadata} minHeight="3rem" />
          <TextInput
            label="Webhook"
            description="URL that receives a POST request when a run ends."
            placeholder="https://"
            value={webhook}
            onChange={(event) => setWebhook(event.currentTarget.value)}
          />
          <Switch label="Enabled" checked={enabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
          {save.error && (
            <Alert color="red" role="alert">
              {save.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={chosen === ""}>
              {cron ? "Save" : "Create"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");

/** Formats a time for `datetime-local`, in the reader's zone. */
function localTime(iso: string | null | undefined): string {
  if (iso == null) return "";
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
