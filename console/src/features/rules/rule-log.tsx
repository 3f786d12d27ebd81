import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { Empty } from "../../ui/empty.tsx";
import { money } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { type LogStatus, type RuleLogEntry, ruleLogQuery } from "./queries.ts";

const STATES = {
  pending: { label: "Pending", color: "info" },
  done: { label: "Acted", color: "success" },
  failed: { label: "Failed", color: "danger" },
  skipped: { label: "Skipped", color: "neutral" },
} as const;

const ACTIONS = [
  ["evaluators", "Evaluated"],
  ["add_to_annotation_queue", "Queue"],
  ["add_to_dataset", "Dataset"],
  ["tags", "Tags"],
  ["feedback", "Feedback"],
  ["webhooks", "Webhook"],
  ["alerts", "Alert"],
  ["alignment_queue", "Alignment"],
  ["extend_only", "Retention"],
] as const;

const COLORS = { success: "success", skipped: "neutral", error: "danger" } as const;

const COLUMNS: SimpleColumn<RuleLogEntry>[] = [
  {
    title: "Run",
    cell: ({ run_id: runId, run_name: name, run_session_id: projectId, thread_id: thread }) => (
      <>
        {projectId === null ? (
          <Text size="sm">{name ?? runId}</Text>
        ) : (
          <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId }} size="sm">
            {name || "Unnamed"}
          </AnchorLink>
        )}
        {thread !== null && (
          <Text size="xs" c="dimmed">
            Thread {thread}
          </Text>
        )}
      </>
    ),
  },
  {
    title: "Decision",
    width: 110,
    cell: ({ status }) => (
      <Badge variant="light" color={STATES[status].color} tt="none">
        {STATES[status].label}
      </Badge>
    ),
  },
  { title: "Actions", width: "38%", cell: (entry) => <Outcomes entry={entry} /> },
  { title: "Cost", width: 90, align: "right", cell: ({ cost_usd: cost }) => money(cost) },
  { title: "Matched", width: 110, cell: ({ matched_at: at }) => <TimeText at={at} /> },
  {
    title: "Retry",
    width: 80,
    cell: (entry) => (entry.status === "failed" || entry.status === "skipped" ? <Retry entry={entry} /> : null),
  },
];

/** Decisions of a rule, the newest first, with the reason of each. */
export function RuleLog({ ruleId, status }: { ruleId: string; status: LogStatus | null }) {
  const found = useInfiniteQuery(ruleLogQuery(ruleId, status));
  const entries = found.data?.pages.flatMap(({ logs }) => logs) ?? [];
  return (
    <LoadedList
      query={found}
      rows={6}
      list={entries}
      empty={
        <Empty title={status === null ? "No run has matched yet" : "No such decisions"}>
          Each run that passes the filter appears here, with what the rule did about it.
        </Empty>
      }
    >
      <SimpleTable
        label="Decisions"
        minWidth={820}
        columns={COLUMNS}
        rows={entries}
        rowKey={({ match_id: id }) => id}
        pages={found}
      />
    </LoadedList>
  );
}

function Outcomes({ entry }: { entry: RuleLogEntry }) {
  const done = ACTIONS.flatMap(([name, label]) => {
    const action = entry[name];
    return action ? [{ name, label, ...action }] : [];
  });
  const undelivered = entry.deliveries.filter(({ status }) => status !== "delivered");
  return (
    <Stack gap={4}>
      <Group gap={4}>
        {done.map(({ name, label, outcome, payload }) => (
          <Badge
            key={name}
            size="sm"
            variant="outline"
            color={COLORS[outcome]}
            tt="none"
            title={[payload?.["error"], payload?.["reason"], outcome].find((each) => typeof each === "string")}
          >
            {label}
            {outcome === "success" ? "" : outcome === "error" ? ": failed" : ": skipped"}
          </Badge>
        ))}
      </Group>
      {entry.reason !== null && (
        <Text size="xs" c={entry.status === "failed" ? "var(--heddle-danger)" : "dimmed"}>
          {entry.reason}
        </Text>
      )}
      {undelivered.map(({ delivery_id: id, kind, status, attempts, error }) => (
        <Text key={id} size="xs" c="dimmed">
          {kind === "webhook" ? "Webhook" : "Alert"} {status === "failed" ? "given up" : "not delivered yet"} after{" "}
          {attempts} attempts{error === null ? "." : `: ${error}`}
        </Text>
      ))}
    </Stack>
  );
}

function Retry({ entry }: { entry: RuleLogEntry }) {
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/api/v1/runs/rules/{rule_id}/logs/{run_id}/retry", {
          params: { path: { rule_id: entry.rule_id, run_id: entry.run_id } },
        }),
      ),
    onError: notifyFailure("Could not retry"),
    onSettled: () => client.invalidateQueries({ queryKey: ["rules", "log", entry.rule_id] }),
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Retry ${entry.run_name ?? entry.run_id}`}
      loading={retry.isPending}
      onClick={() => retry.mutate()}
    >
      Retry
    </Button>
  );
}
