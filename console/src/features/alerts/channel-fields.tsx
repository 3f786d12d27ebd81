import { ActionIcon, Button, Fieldset, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { actionsOf, type ChannelValues, type Target } from "./alert-values.ts";
import { type AlertBody, sessionOf, type TestResult } from "./queries.ts";

const TARGETS: { value: Target; label: string; field: string; placeholder: string }[] = [
  { value: "slack", label: "Slack", field: "URL", placeholder: "https://hooks.slack.com/services/…" },
  { value: "teams", label: "Teams", field: "URL", placeholder: "https://….logic.azure.com/workflows/…" },
  { value: "pagerduty", label: "PagerDuty", field: "Routing key", placeholder: "R0…" },
  { value: "email", label: "E-mail", field: "Addresses", placeholder: "ops@example.com" },
  { value: "webhook", label: "Webhook", field: "URL", placeholder: "https://example.com/alerts" },
];

interface ChannelFieldsProps {
  channels: ChannelValues[];
  onChange: (channels: ChannelValues[]) => void;
  projectId: string | null;
  /** Stored alert or budget, which has the masked values. */
  alertId?: string | undefined;
  /** Alert that the test message is about. */
  rule?: AlertBody["rule"] | null;
}

/** Fields of the channels that an alert tells, and a test of them that shows the receivers' answers. */
export function ChannelFields({ channels, onChange, projectId, alertId, rule }: ChannelFieldsProps) {
  const test = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/v1/platform/alerts/{session_id}/test", {
          params: { path: { session_id: sessionOf(projectId) } },
          body: { alert_rule_id: alertId, rule, actions: actionsOf({ channels }) },
        }),
      ),
  });
  const replace = (index: number, value: ChannelValues) => onChange(channels.with(index, value));
  return (
    <Fieldset legend="Channels">
      <Stack gap="xs">
        {channels.map((channel, index) => {
          const { target, text } = channel;
          const { field, placeholder } = TARGETS.find(({ value }) => value === target)!;
          return (
            <Group key={index} gap="xs" wrap="nowrap" align="flex-end">
              <Select
                label="Channel"
                w={130}
                allowDeselect={false}
                data={TARGETS}
                value={target}
                onChange={(value) => replace(index, { id: null, target: value as Target, text: "", headers: {} })}
              />
              <TextInput
                label={field}
                placeholder={placeholder}
                flex={1}
                value={text}
                onChange={({ currentTarget }) => replace(index, { ...channel, text: currentTarget.value })}
              />
              <ActionIcon
                variant="default"
                size={36}
                aria-label={`Remove channel ${index + 1}`}
                onClick={() => onChange(channels.toSpliced(index, 1))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          );
        })}
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => onChange([...channels, { id: null, target: "slack", text: "", headers: {} }])}
          >
            Add channel
          </Button>
          {channels.length > 0 && (
            <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              Send test message
            </Button>
          )}
        </Group>
        {test.error && (
          <Text size="sm" c="var(--heddle-danger)" role="alert">
            {test.error.message}
          </Text>
        )}
        <TestResults results={test.data?.results} />
      </Stack>
    </Fieldset>
  );
}

/** What each receiver answered to a test message. */
export function TestResults({ results }: { results: readonly TestResult[] | undefined }) {
  if (results === undefined) return null;
  return (
    <Stack gap={2} role="status">
      {results.map(({ target, recipient, status, status_code: code, answer, error }, index) => (
        <Text
          key={index}
          size="sm"
          c={status === "failed" ? "var(--heddle-danger)" : undefined}
          style={{ overflowWrap: "anywhere" }}
        >
          {recipient ?? TARGETS.find(({ value }) => value === target)?.label}:{" "}
          {status === "failed" ? "failed" : "delivered"}
          {code !== null && `, ${code}`}
          {(answer ?? error) !== null && ` – ${answer || error || "empty answer"}`}
        </Text>
      ))}
    </Stack>
  );
}
