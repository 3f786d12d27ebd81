import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { AlertStatus } from "./alert-status.tsx";
import { describeCondition } from "./describe-alert.ts";
import { type Alert, alertsQuery } from "./queries.ts";

const AlertForm = lazy(async () => ({ default: (await import("./alert-form.tsx")).AlertForm }));

/** List of alert rules with their states, of a project or of the workspace. */
export function AlertsPage() {
  const { project } = useSearch({ from: "/_shell/alerts/" });
  const navigate = useNavigate();
  const [isNew, setNew] = useNewForm();
  const found = useQuery(alertsQuery(project));
  const alerts = found.data ?? [];
  const open = (alertId: string) => navigate({ to: "/alerts/$alertId", params: { alertId } });
  return (
    <Page title="Alerts" actions={<NewButton onClick={() => setNew(true)}>New alert</NewButton>}>
      {project !== undefined && (
        <Group gap="xs" mb="sm">
          <Text size="sm">Alerts of one project.</Text>
          <AnchorLink to="/alerts" size="sm">
            Show all
          </AnchorLink>
        </Group>
      )}
      <LoadedList
        query={found}
        rows={8}
        list={alerts}
        empty={
          <Empty title="No alerts yet">
            An alert watches a metric of traced runs, such as the error rate or the cost, and tells Slack, Teams,
            PagerDuty, a webhook or people by e-mail when it crosses a threshold.
          </Empty>
        }
      >
        <DataTable
          label="Alerts"
          columns={COLUMNS}
          rows={alerts}
          rowKey={({ rule }) => rule.id}
          onOpen={({ rule }) => void open(rule.id)}
        />
      </LoadedList>
      <Suspense>
        {isNew && <AlertForm projectId={project ?? null} onSaved={open} onClose={() => setNew(false)} />}
      </Suspense>
    </Page>
  );
}

const COLUMNS: Column<Alert>[] = [
  {
    id: "name",
    header: "Name",
    width: "minmax(160px, 1.2fr)",
    cell: ({ rule }) => (
      <AnchorLink to="/alerts/$alertId" params={{ alertId: rule.id }} size="sm" truncate>
        {rule.name}
      </AnchorLink>
    ),
  },
  { id: "status", header: "State", width: "150px", cell: ({ rule }) => <AlertStatus {...rule} /> },
  {
    id: "condition",
    header: "Condition",
    width: "minmax(200px, 2fr)",
    cell: ({ rule }) => <Clipped text={describeCondition(rule)} />,
  },
  {
    id: "project",
    header: "Project",
    width: "minmax(120px, 1fr)",
    cell: ({ rule }) => <Clipped text={rule.session_name ?? (rule.session_id === null ? "All projects" : "–")} />,
  },
  {
    id: "channels",
    header: "Tells",
    width: "minmax(100px, 1fr)",
    cell: ({ actions }) => <Clipped text={actions.map(({ target }) => target).join(", ") || "–"} />,
  },
  {
    id: "last",
    header: "Last fired",
    width: "110px",
    cell: ({ rule }) => (rule.last_fired_at === null ? "–" : <TimeText at={rule.last_fired_at} />),
  },
];
