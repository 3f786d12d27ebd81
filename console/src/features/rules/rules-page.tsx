import { Group, Switch, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { describeActions, describeScope } from "./describe-rule.ts";
import { type Rule, type RuleStatistics, rulesQuery, ruleStatisticsQuery } from "./queries.ts";

const RuleForm = lazy(async () => ({ default: (await import("./rule-form.tsx")).RuleForm }));

/** List of automation rules, of a project or of the workspace. */
export function RulesPage() {
  const { project } = useSearch({ from: "/_shell/rules/" });
  const navigate = useNavigate();
  const [isNew, setNew] = useNewForm();
  const found = useQuery(rulesQuery(project));
  const rules = found.data ?? [];
  const statistics = useQuery(ruleStatisticsQuery);
  const columns = useMemo(() => columnsWith(statistics.data), [statistics.data]);
  const open = (ruleId: string) => navigate({ to: "/rules/$ruleId", params: { ruleId } });
  return (
    <Page title="Rules" actions={<NewButton onClick={() => setNew(true)}>New rule</NewButton>}>
      {project !== undefined && (
        <Group gap="xs" mb="sm">
          <Text size="sm">Rules of one project.</Text>
          <AnchorLink to="/rules" size="sm">
            Show all
          </AnchorLink>
        </Group>
      )}
      <LoadedList
        query={found}
        rows={8}
        list={rules}
        empty={
          <Empty title="No rules yet">
            A rule acts on each run that passes its filter: it evaluates it, adds it to a queue or a dataset, tags it,
            or calls a webhook. Create one here, or from a filtered list of a project.
          </Empty>
        }
      >
        <DataTable
          label="Rules"
          columns={columns}
          rows={rules}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void open(id)}
        />
      </LoadedList>
      <Suspense>{isNew && <RuleForm projectId={project} onSaved={open} onClose={() => setNew(false)} />}</Suspense>
    </Page>
  );
}

function columnsWith(statistics: Map<string, RuleStatistics> | undefined): Column<Rule>[] {
  const number = (id: keyof RuleStatistics, header: string): Column<Rule> => ({
    id,
    header,
    width: "90px",
    align: "right",
    cell: (rule) => count(statistics?.get(rule.id)?.[id] as number | undefined),
  });
  return [
    {
      id: "name",
      header: "Name",
      width: "minmax(160px, 1.2fr)",
      cell: ({ id, display_name: name }) => (
        <AnchorLink to="/rules/$ruleId" params={{ ruleId: id }} size="sm" truncate>
          {name}
        </AnchorLink>
      ),
    },
    {
      id: "scope",
      header: "Looks at",
      width: "minmax(140px, 1fr)",
      cell: (rule) => <Clipped text={describeScope(rule)} />,
    },
    {
      id: "actions",
      header: "Does",
      width: "minmax(180px, 2fr)",
      cell: (rule) => <Clipped text={describeActions(rule)} />,
    },
    number("matched", "24 h"),
    number("done", "Acted"),
    number("failed", "Failed"),
    {
      id: "last",
      header: "Last acted",
      width: "110px",
      cell: (rule) => {
        const at = statistics?.get(rule.id)?.last_applied_at;
        return at == null ? "–" : <TimeText at={at} />;
      },
    },
    { id: "enabled", header: "Enabled", width: "80px", cell: (rule) => <EnabledSwitch rule={rule} /> },
  ];
}

/** Switch that enables and disables a rule. */
export function EnabledSwitch({ rule }: { rule: Pick<Rule, "id" | "is_enabled" | "display_name"> }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (is_enabled: boolean) =>
      data(
        traceApi.PATCH("/api/v1/runs/rules/{rule_id}", {
          params: { path: { rule_id: rule.id } },
          body: { is_enabled },
        }),
      ),
    onError: notifyFailure("Could not change the rule"),
    onSettled: () => client.invalidateQueries({ queryKey: ["rules"] }),
  });
  return (
    <Switch
      size="xs"
      aria-label={`Enable ${rule.display_name}`}
      checked={change.isPending ? change.variables : rule.is_enabled}
      disabled={change.isPending}
      onClick={(event) => event.stopPropagation()}
      onChange={({ currentTarget: { checked } }) => change.mutate(checked)}
    />
  );
}
