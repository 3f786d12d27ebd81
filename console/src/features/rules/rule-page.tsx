import { Button, Code, Group, Menu, Progress, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { ActionsMenu } from "../../ui/actions-menu.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { count, money, percent } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NotFound } from "../../ui/not-found.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { describeActions, describeScope } from "./describe-rule.ts";
import { type LogStatus, type Rule, ruleQuery, ruleStatisticsQuery } from "./queries.ts";
import { RuleLog } from "./rule-log.tsx";
import { EnabledSwitch } from "./rules-page.tsx";

const RuleForm = lazy(async () => ({ default: (await import("./rule-form.tsx")).RuleForm }));

/** One rule: what it does, its back-fill, and the log of its decisions. */
export function RulePage() {
  const { ruleId } = useParams({ from: "/_shell/rules/$ruleId" });
  const rule = useQuery(ruleQuery(ruleId));
  const [status, setStatus] = useState<LogStatus | "all">("all");
  if (rule.data === null) return <NotFound />;
  return (
    <Page title={rule.data?.display_name ?? "Rule"} actions={rule.data && <Actions rule={rule.data} />}>
      {!rule.data ? (
        <LoadState query={rule} rows={8} />
      ) : (
        <Stack gap="md">
          <Summary rule={rule.data} />
          <Backfill rule={rule.data} />
          <section aria-label="Log">
            <Group justify="space-between" mb={4}>
              <Title order={2} size="h6">
                Log
              </Title>
              <SegmentedControl
                size="xs"
                aria-label="Decisions"
                value={status}
                onChange={(value) => setStatus(value as LogStatus | "all")}
                data={[
                  { value: "all", label: "All" },
                  { value: "done", label: "Acted" },
                  { value: "failed", label: "Failed" },
                  { value: "skipped", label: "Skipped" },
                  { value: "pending", label: "Pending" },
                ]}
              />
            </Group>
            <RuleLog ruleId={ruleId} status={status === "all" ? null : status} />
          </section>
        </Stack>
      )}
    </Page>
  );
}

function Summary({ rule }: { rule: Rule }) {
  const statistics = useQuery(ruleStatisticsQuery).data?.get(rule.id);
  const filters = [
    ["Runs where", rule.filter],
    ["Trace where", rule.trace_filter],
    ["Tree where", rule.tree_filter],
  ].filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== "");
  const figures: [string, string][] = [
    ["matched in 24 h", count(statistics?.matched)],
    ["acted", count(statistics?.done)],
    ["failed", count(statistics?.failed)],
    ["skipped", count(statistics?.skipped)],
    ["cost", money(statistics?.cost_usd)],
  ];
  return (
    <Stack gap="xs">
      <Text size="sm">
        {describeScope(rule)}: {describeActions(rule)}.
      </Text>
      {rule.disabled_reason !== null && !rule.is_enabled && (
        <Text size="sm" c="var(--heddle-danger)">
          Disabled: {rule.disabled_reason}
        </Text>
      )}
      <Learning rule={rule} />
      {filters.map(([label, text]) => (
        <Text key={label} size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
          {label} <Code>{text}</Code>
        </Text>
      ))}
      <Group gap="md" aria-label="Figures" role="group">
        {figures.map(([name, value]) => (
          <Text key={name} size="sm" className="numbers">
            {value}{" "}
            <Text span inherit c="dimmed">
              {name}
            </Text>
          </Text>
        ))}
        {rule.spend_limit && (
          <Text size="sm" className="numbers">
            {money(statistics?.spent_usd ?? 0)} of {money(rule.spend_limit.limit_usd)}{" "}
            <Text span inherit c="dimmed">
              {rule.spend_limit.window} limit
            </Text>
          </Text>
        )}
      </Group>
    </Stack>
  );
}

/** Links to what people's judgements of the rule's evaluator become. */
function Learning({ rule }: { rule: Rule }) {
  const { evaluator_id: evaluatorId, corrections_dataset_id: datasetId, alignment_annotation_queue_id: queueId } = rule;
  if (datasetId === null && queueId === null) return null;
  return (
    <Group gap="md">
      {datasetId !== null && (
        <AnchorLink to="/datasets/$datasetId" params={{ datasetId }} size="sm">
          Corrections
        </AnchorLink>
      )}
      {queueId !== null && (
        <AnchorLink to="/annotation-queues/$queueId" params={{ queueId }} size="sm">
          Alignment queue
        </AnchorLink>
      )}
      {queueId !== null && evaluatorId !== null && (
        <AnchorLink to="/evaluators/$evaluatorId" params={{ evaluatorId }} search={{ tab: "alignment" }} size="sm">
          Agreement with people
        </AnchorLink>
      )}
    </Group>
  );
}

/** Progress of the newest back-fill; absent without one that is open or failed. */
function Backfill({ rule }: { rule: Rule }) {
  const client = useQueryClient();
  const { backfill_id: id, backfill_status: status, backfill_progress: progress, backfill_error: error } = rule;
  const cancel = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/api/v1/runs/rules/{rule_id}/backfills/{backfill_id}/cancel", {
          params: { path: { rule_id: rule.id, backfill_id: id! } },
        }),
      ),
    onError: notifyFailure("Could not cancel the back-fill"),
    onSettled: () => client.invalidateQueries({ queryKey: ["rules"] }),
  });
  if (id === null || (status !== "pending" && status !== "running" && status !== "failed")) return null;
  if (status === "failed") {
    return (
      <Text size="sm" c="var(--heddle-danger)" role="status">
        The back-fill failed: {error}
      </Text>
    );
  }
  return (
    <Group gap="sm" role="group" aria-label="Back-fill">
      <Text size="sm">Back-fill: {percent(progress ?? 0)}</Text>
      <Progress value={(progress ?? 0) * 100} w={200} aria-label="Progress of the back-fill" />
      <Button size="compact-xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel
      </Button>
    </Group>
  );
}

function Actions({ rule }: { rule: Rule }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isEdited, setEdited] = useState(false);
  const { confirm, dialog } = useConfirm();
  const params = { path: { rule_id: rule.id } };
  const trigger = useMutation({
    mutationFn: () => data(traceApi.POST("/api/v1/runs/rules/{rule_id}/trigger", { params, body: {} })),
    onSuccess: () => notifyDone("The rule looks at the runs of the last day again"),
    onError: notifyFailure("Could not apply the rule"),
    onSettled: () => client.invalidateQueries({ queryKey: ["rules"] }),
  });
  const remove = () =>
    confirm({
      title: `Delete ${rule.display_name}?`,
      body: "This permanently deletes the rule and its log. What it has done stays.",
      action: "Delete",
      run: async () => {
        await traceApi.DELETE("/api/v1/runs/rules/{rule_id}", { params });
        await navigate({ to: "/rules" });
        await client.invalidateQueries({ queryKey: ["rules"] });
      },
    });
  return (
    <>
      <EnabledSwitch rule={rule} />
      {rule.session_id !== null && (
        <AnchorLink to="/projects/$projectId" params={{ projectId: rule.session_id }} size="sm">
          Project
        </AnchorLink>
      )}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        loading={trigger.isPending}
        onClick={() => trigger.mutate()}
      >
        Apply now
      </Button>
      <ActionsMenu label="Rule actions">
        <Menu.Item onClick={() => setEdited(true)}>Edit</Menu.Item>
        <Menu.Item color="danger" onClick={remove}>
          Delete
        </Menu.Item>
      </ActionsMenu>
      <Suspense>{isEdited && <RuleForm initial={rule} onSaved={() => {}} onClose={() => setEdited(false)} />}</Suspense>
      {dialog}
    </>
  );
}
