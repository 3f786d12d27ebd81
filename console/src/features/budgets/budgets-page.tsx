import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

import { Clipped } from "../../ui/clipped.tsx";
import { Empty } from "../../ui/empty.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { BudgetBar } from "./budget-bar.tsx";
import { MonthPicker } from "./month-picker.tsx";
import { type Budget, budgetsQuery } from "./queries.ts";

const BudgetForm = lazy(async () => ({ default: (await import("./budget-form.tsx")).BudgetForm }));

/** The workspace's budgets with their spend of a month. */
export function BudgetsPage() {
  const { month } = useSearch({ from: "/_shell/budgets/" });
  const navigate = useNavigate();
  const [isNew, setNew] = useNewForm();
  const found = useQuery(budgetsQuery(month));
  const budgets = found.data ?? [];
  const open = (budgetId: string) => navigate({ to: "/budgets/$budgetId", params: { budgetId } });
  return (
    <Page
      title="Budgets"
      actions={
        <>
          <MonthPicker month={month} onChange={(next) => void navigate({ to: "/budgets", search: { month: next } })} />
          <NewButton onClick={() => setNew(true)}>New budget</NewButton>
        </>
      }
    >
      <LoadedList
        query={found}
        rows={6}
        list={budgets}
        empty={
          <Empty title="No budgets yet">
            A budget limits what traced runs cost in a month: those of the workspace, of a project or of each user. It
            tells Slack, Teams, PagerDuty, a webhook or people by e-mail when the spend or its forecast reaches a share
            of the limit.
          </Empty>
        }
      >
        <SimpleTable label="Budgets" columns={columnsOf(month)} rows={budgets} rowKey={({ id }) => id} />
      </LoadedList>
      <Suspense>{isNew && <BudgetForm onSaved={open} onClose={() => setNew(false)} />}</Suspense>
    </Page>
  );
}

const columnsOf = (month: string | undefined): SimpleColumn<Budget>[] => [
  {
    title: "Name",
    cell: ({ id, name, enabled, error }) => (
      <>
        <AnchorLink to="/budgets/$budgetId" params={{ budgetId: id }} search={{ month }} size="sm">
          {name}
        </AnchorLink>
        {(!enabled || error !== null) && (
          <Text size="xs" c="dimmed">
            {enabled ? "Evaluation failed" : "Disabled"}
          </Text>
        )}
      </>
    ),
  },
  {
    title: "Scope",
    width: 200,
    cell: ({ session_id: project, session_name: name, per, user_key: key }) => (
      <Text size="sm">
        {project === null ? "All projects" : (name ?? project)}
        {per === "user" && `, each ${key}`}
      </Text>
    ),
  },
  { title: "Spend", width: "40%", cell: (budget) => <BudgetBar budget={budget} /> },
  {
    title: "Highest user",
    width: 160,
    cell: ({ month: { user } }) => <Clipped text={user} />,
  },
];
