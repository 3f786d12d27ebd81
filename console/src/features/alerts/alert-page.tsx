import { Button, Code, Group, Menu, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NotFound } from "../../ui/not-found.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { AlertChart } from "./alert-chart.tsx";
import { AlertStatus } from "./alert-status.tsx";
import { TestResults } from "./channel-fields.tsx";
import { describeCondition } from "./describe-alert.ts";
import { IncidentList } from "./incident-list.tsx";
import { type Alert, alertQuery, sessionOf } from "./queries.ts";
import { MoreMenu, TestButton } from "./rule-actions.tsx";

const AlertForm = lazy(async () => ({ default: (await import("./alert-form.tsx")).AlertForm }));

/** One alert rule: its state, its metric with the threshold, and its incidents. */
export function AlertPage() {
  const { alertId } = useParams({ from: "/_shell/alerts/$alertId" });
  const alert = useQuery(alertQuery(alertId));
  const [hours, setHours] = useState("24");
  if (alert.data === null) return <NotFound />;
  return (
    <Page title={alert.data?.rule.name ?? "Alert"} actions={alert.data && <Actions alert={alert.data} />}>
      {!alert.data ? (
        <LoadState query={alert} rows={8} />
      ) : (
        <Stack gap="md">
          <Summary alert={alert.data} />
          <Group justify="flex-end">
            <SegmentedControl
              size="xs"
              aria-label="Time range"
              value={hours}
              onChange={setHours}
              data={[
                { value: "3", label: "3 h" },
                { value: "24", label: "24 h" },
                { value: "168", label: "7 d" },
                { value: "336", label: "14 d" },
              ]}
            />
          </Group>
          <AlertChart projectId={alert.data.rule.session_id} rule={definitionOf(alert.data)} hours={Number(hours)} />
          <section aria-label="Incidents">
            <Title order={2} size="h6" mb={4}>
              Incidents
            </Title>
            <IncidentList rule={alert.data.rule} />
          </section>
        </Stack>
      )}
    </Page>
  );
}

/** Fields of a rule that determine its values. */
function definitionOf({ rule }: Alert) {
  const { name, type, attribute, aggregation, operator, threshold, threshold_multiplier, threshold_window_minutes } =
    rule;
  const { window_minutes, filter, denominator_filter, interval_minutes, delay_minutes, feedback_key, group_by } = rule;
  const { for_evaluations, min_runs, resolve_threshold, no_data } = rule;
  const condition = {
    type,
    attribute,
    aggregation,
    operator,
    threshold,
    threshold_multiplier,
    threshold_window_minutes,
  };
  const timing = {
    window_minutes,
    interval_minutes,
    delay_minutes,
    for_evaluations,
    min_runs,
    resolve_threshold,
    no_data,
  };
  return { name, ...condition, ...timing, filter, denominator_filter, feedback_key, group_by };
}

function Summary({ alert: { rule, actions } }: { alert: Alert }) {
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <AlertStatus {...rule} />
        <Text size="sm">
          {describeCondition(rule)}
          {rule.for_evaluations > 1 && `, ${rule.for_evaluations} evaluations in a row`}
        </Text>
        <Text size="sm" c="dimmed">
          {rule.severity}
        </Text>
      </Group>
      {rule.filter !== null && (
        <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
          Runs where <Code>{rule.filter}</Code>
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {actions.length === 0 ? "Tells no channel" : `Tells ${actions.map(({ target }) => target).join(", ")}`}
        {rule.evaluated_at !== null && (
          <>
            {" · evaluated "}
            <TimeText at={rule.evaluated_at} />
          </>
        )}
        {rule.silenced_until !== null && Date.parse(rule.silenced_until) > Date.now() && (
          <>
            {" · silenced until "}
            <TimeText at={rule.silenced_until} />
          </>
        )}
      </Text>
      {(rule.error ?? rule.disabled_reason) !== null && (
        <Text size="sm" c="var(--heddle-danger)" role="status">
          {rule.error === null ? `Disabled: ${rule.disabled_reason}` : `The last evaluation failed: ${rule.error}`}
        </Text>
      )}
    </Stack>
  );
}

function Actions({ alert }: { alert: Alert }) {
  const { rule } = alert;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isEdited, setEdited] = useState(false);
  const { confirm, dialog } = useConfirm();
  const session_id = sessionOf(rule.session_id);
  const params = { path: { session_id, alert_rule_id: rule.id } };
  const settled = () => client.invalidateQueries({ queryKey: ["alerts"] });
  const change = useMutation({
    mutationFn: (fields: { enabled?: boolean; silenced_until?: string | null }) =>
      data(traceApi.PATCH("/v1/platform/alerts/{session_id}/{alert_rule_id}", { params, body: { rule: fields } })),
    onError: notifyFailure("Could not change the alert"),
    onSettled: settled,
  });
  const test = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/v1/platform/alerts/{session_id}/test", {
          params: { path: { session_id } },
          body: { alert_rule_id: rule.id },
        }),
      ),
    onError: notifyFailure("Could not test the channels"),
  });
  const remove = () =>
    confirm({
      title: `Delete ${rule.name}?`,
      body: "This permanently deletes the alert and its incidents. Waiting messages are not sent.",
      action: "Delete",
      run: async () => {
        await traceApi.DELETE("/v1/platform/alerts/{session_id}/{alert_rule_id}", { params });
        await navigate({ to: "/alerts" });
        await settled();
      },
    });
  const silence = (hours: number) => () =>
    change.mutate({ silenced_until: new Date(Date.now() + hours * 3_600_000).toISOString() });
  const isSilenced = rule.silenced_until !== null && Date.parse(rule.silenced_until) > Date.now();
  return (
    <>
      <TestResults results={test.data?.results} />
      {rule.session_id !== null && (
        <AnchorLink to="/projects/$projectId" params={{ projectId: rule.session_id }} size="sm">
          Project
        </AnchorLink>
      )}
      <TestButton hasChannels={alert.actions.length > 0} isPending={test.isPending} onTest={() => test.mutate()} />
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default">
            {isSilenced ? "Silenced" : "Silence"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={silence(1)}>For an hour</Menu.Item>
          <Menu.Item onClick={silence(24)}>For a day</Menu.Item>
          <Menu.Item onClick={silence(168)}>For a week</Menu.Item>
          {isSilenced && <Menu.Item onClick={() => change.mutate({ silenced_until: null })}>End the silence</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <MoreMenu
        isEnabled={rule.enabled}
        onEdit={() => setEdited(true)}
        onToggle={() => change.mutate({ enabled: !rule.enabled })}
        onDelete={remove}
      />
      <Suspense>
        {isEdited && <AlertForm initial={alert} onSaved={() => {}} onClose={() => setEdited(false)} />}
      </Suspense>
      {dialog}
    </>
  );
}
