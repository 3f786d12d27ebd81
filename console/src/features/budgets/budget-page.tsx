import { Code, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import { Chart } from "../../ui/chart.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { money, percent } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { NotFound } from "../../ui/not-found.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { TestResults } from "../alerts/channel-fields.tsx";
import { MoreMenu, TestButton } from "../alerts/rule-actions.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { MonthPicker } from "./month-picker.tsx";
import { NoticeList } from "./notice-list.tsx";
import { type Budget, budgetQuery, PAGE, spendQuery, type UserSpend } from "./queries.ts";

const BudgetForm = lazy(async () => ({ default: (await import("./budget-form.tsx")).BudgetForm }));

/** One budget: its spend of a month by day and by user, and its notices. */
export function BudgetPage() {
  const { budgetId } = useParams({ from: "/_shell/budgets/$budgetId" });
  const { month } = useSearch({ from: "/_shell/budgets/$budgetId" });
  const navigate = useNavigate();
  const budget = useQuery(budgetQuery(budgetId, month));
  if (budget.error instanceof ApiError && budget.error.status === 404) return <NotFound />;
  return (
    <Page title={budget.data?.name ?? "Budget"} actions={budget.data && <Actions budget={budget.data} />}>
      {!budget.data ? (
        <LoadState query={budget} rows={8} />
      ) : (
        <Stack gap="md">
          <Summary budget={budget.data} />
          <MonthPicker
            month={month}
            onChange={(next) =>
              void navigate({ to: "/budgets/$budgetId", params: { budgetId }, search: { month: next } })
            }
          />
          <BudgetBar budget={budget.data} size={22} />
          <Spend budget={budget.data} month={month} />
          <section aria-label="Notices">
            <Title order={2} size="h6" mb={4}>
              Notices
            </Title>
            <NoticeList budget={budget.data} />
          </section>
        </Stack>
      )}
    </Page>
  );
}

function Summary({ budget }: { budget: Budget }) {
  const { session_name, session_id, per, user_key, filter, thresholds, forecast_threshold, time_zone } = budget;
  const levels = thresholds.map((level) => `${level} %`);
  if (forecast_threshold !== null) levels.push(`a forecast of ${forecast_threshold} %`);
  return (
    <Stack gap={4}>
      <Text size="sm">
        {session_id === null ? "All projects" : (session_name ?? session_id)}
        {per === "user" ? `, each ${user_key}` : ""}
        {levels.length > 0 && `, tells at ${levels.join(", ")}`}
      </Text>
      {filter !== null && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          Traces where <Code>{filter}</Code>
        </Text>
      )}
      <Text size="sm" c="dimmed">
        Months in {time_zone}
        {budget.measured_at === null ? (
          ", not measured yet"
        ) : (
          <>
            {", measured "}
            <TimeText at={budget.measured_at} />
          </>
        )}
      </Text>
      {(budget.error ?? budget.disabled_reason) !== null && (
        <Text size="sm" c="var(--heddle-danger)" role="status">
          {budget.error === null
            ? `Disabled: ${budget.disabled_reason}`
            : `The last evaluation failed: ${budget.error}`}
        </Text>
      )}
    </Stack>
  );
}

/** Height of the chart, so that nothing below moves when it is loaded. */
const CHART = 270;

function Spend({ budget, month }: { budget: Budget; month: string | undefined }) {
  const [search, setSearch] = useState("");
  const [settled] = useDebouncedValue(search, 300);
  const [pages, setPages] = useState(1);
  const spend = useQuery(spendQuery(budget.id, month, settled, Math.min(pages * PAGE, 200)));
  const days = spend.data?.days ?? [];
  let sum = 0;
  const sums = days.map(({ spent_usd }) => (sum += spent_usd));
  const limit = { label: "Limit", values: days.map(() => budget.limit_usd), color: "neutral" as const };
  const isMore = (spend.data?.users.length ?? 0) === pages * PAGE && pages * PAGE < 200;
  return (
    <>
      <div style={{ minHeight: CHART }}>
        <Chart
          title="Spend of the month"
          times={days.map(({ day }) => Date.parse(`${day}T12:00:00Z`) / 1000)}
          series={[
            { label: "In total", values: sums },
            { label: "Of the day", values: days.map(({ spent_usd }) => spent_usd) },
            ...(budget.per === "total" ? [limit] : []),
          ]}
          format={money}
        />
      </div>
      <section aria-label="Users">
        <Title order={2} size="h6" mb={4}>
          Users
        </Title>
        <TextInput
          size="xs"
          mb="xs"
          maw={300}
          aria-label="Search users"
          placeholder={`Search by ${budget.user_key}`}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        {!spend.data ? (
          <LoadState query={spend} rows={3} />
        ) : spend.data.users.length === 0 ? (
          <Text size="sm" c="dimmed">
            {settled === "" ? `No trace of the month names its user by ${budget.user_key}.` : "No such user."}
          </Text>
        ) : (
          <SimpleTable
            label="Users"
            columns={USER_COLUMNS}
            rows={spend.data.users}
            rowKey={({ user }) => user}
            pages={{
              hasNextPage: isMore,
              isFetchingNextPage: spend.isPlaceholderData,
              fetchNextPage: () => setPages(pages + 1),
            }}
          />
        )}
      </section>
    </>
  );
}

const USER_COLUMNS: SimpleColumn<UserSpend>[] = [
  { title: "User", cell: ({ user }) => <Text size="sm">{user}</Text> },
  { title: "Spent", width: 140, align: "right", cell: ({ spent_usd: spent }) => money(spent) },
  { title: "Of the limit", width: 120, align: "right", cell: ({ percent_of_limit: share }) => percent(share / 100) },
  { title: "Forecast", width: 140, align: "right", cell: ({ forecast_usd: forecast }) => money(forecast) },
];

function Actions({ budget }: { budget: Budget }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isEdited, setEdited] = useState(false);
  const { confirm, dialog } = useConfirm();
  const params = { path: { budget_id: budget.id } };
  const settled = () => client.invalidateQueries({ queryKey: ["budgets"] });
  const change = useMutation({
    mutationFn: (body: { enabled: boolean }) =>
      data(traceApi.PATCH("/v1/platform/budgets/{budget_id}", { params, body })),
    onError: notifyFailure("Could not change the budget"),
    onSettled: settled,
  });
  const test = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/v1/platform/alerts/{session_id}/test", {
          params: { path: { session_id: budget.session_id ?? "all" } },
          body: { alert_rule_id: budget.id },
        }),
      ),
    onError: notifyFailure("Could not test the channels"),
  });
  const remove = () =>
    confirm({
      title: `Delete ${budget.name}?`,
      body: "This permanently deletes the budget, its record of spend and its notices.",
      action: "Delete",
      run: async () => {
        await traceApi.DELETE("/v1/platform/budgets/{budget_id}", { params });
        await navigate({ to: "/budgets" });
        await settled();
      },
    });
  return (
    <>
      <TestResults results={test.data?.results} />
      <TestButton hasChannels={budget.actions.length > 0} isPending={test.isPending} onTest={() => test.mutate()} />
      <MoreMenu
        isEnabled={budget.enabled}
        onEdit={() => setEdited(true)}
        onToggle={() => change.mutate({ enabled: !budget.enabled })}
        onDelete={remove}
      />
      <Suspense>
        {isEdited && <BudgetForm initial={budget} onSaved={() => {}} onClose={() => setEdited(false)} />}
      </Suspense>
      {dialog}
    </>
  );
}
