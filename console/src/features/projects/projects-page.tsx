import { Code, Group, Menu, Switch, Text } from "@mantine/core";
import { useInfiniteQuery, useQueries, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";

import { ActionsMenu } from "../../ui/actions-menu.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, counted, money, percent, seconds, tokens } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Filters } from "../../ui/filters.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { TagFilter } from "../resource-tags/resource-tags.tsx";
import { FeedbackChips } from "../runs/feedback-chips.tsx";
import { utc } from "../runs/run-record.ts";
import { PROJECT_SEARCH } from "./project-search.ts";
import { EditProject } from "./edit-project.tsx";
import { deleteProject, type Project, type ProjectSort, projectsQuery, projectStatsQuery } from "./queries.ts";
import { TracingSample } from "../samples/sample-parts.tsx";

/** Statistics arrive after the list, unless it is sorted by one. */
const hasStatistics = (project: Project): boolean => project.run_count !== undefined;
const combine = (results: UseQueryResult<Map<string, Project>>[]) =>
  new Map(results.flatMap(({ data }) => [...(data ?? [])]));
const late = (project: Project, text: ReactNode): ReactNode => (hasStatistics(project) ? text : "…");

function projectColumns(actions: (project: Project) => ReactNode): Column<Project>[] {
  return [
    {
      id: "name",
      header: "Name",
      width: "minmax(160px, 2fr)",
      sortable: true,
      cell: ({ id, name }) => (
        <AnchorLink to="/projects/$projectId" params={{ projectId: id }} size="sm" truncate>
          {name}
        </AnchorLink>
      ),
    },
    {
      id: "runs_count",
      header: "Traces",
      width: "76px",
      align: "right",
      sortable: true,
      cell: (p) => late(p, count(p.run_count)),
    },
    {
      id: "error_rate",
      header: "Errors",
      width: "76px",
      align: "right",
      sortable: true,
      cell: (p) => late(p, percent(p.error_rate)),
    },
    {
      id: "latency_p50",
      header: "P50",
      width: "92px",
      align: "right",
      sortable: true,
      cell: (p) => late(p, seconds(p.latency_p50)),
    },
    {
      id: "latency_p99",
      header: "P99",
      width: "92px",
      align: "right",
      sortable: true,
      cell: (p) => late(p, seconds(p.latency_p99)),
    },
    { id: "tokens", header: "Tokens", width: "76px", align: "right", cell: (p) => late(p, tokens(p.total_tokens)) },
    { id: "cost", header: "Cost", width: "84px", align: "right", cell: (p) => late(p, money(p.total_cost)) },
    {
      id: "last_run_start_time",
      header: "Last run",
      width: "104px",
      sortable: true,
      cell: (p) => late(p, <TimeText at={utc(p.last_run_start_time)} />),
    },
    {
      id: "feedback",
      header: "Feedback",
      width: "minmax(180px, 1.4fr)",
      cell: (p) => <FeedbackChips stats={p.feedback_stats} />,
    },
    { id: "actions", header: "", width: "48px", cell: actions },
  ];
}

/** Projects with statistics of their traces. */
export function ProjectsPage() {
  const search = { ...PROJECT_SEARCH, ...useSearch({ from: "/_shell/projects/" }) };
  const navigate = useNavigate({ from: "/projects/" });
  const client = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const [edited, setEdited] = useState<Project | null>(null);
  const [isNew, setNew] = useNewForm();
  const found = useInfiniteQuery(projectsQuery(search));
  const pages = found.data?.pages ?? [];
  const statistics = useQueries({
    queries: pages.map((page) => {
      const ids = page.filter((project) => !hasStatistics(project)).map(({ id }) => id);
      return { ...projectStatsQuery(ids), enabled: ids.length > 0 };
    }),
    combine,
  });
  const projects = useMemo(
    () => pages.flat().map((project) => statistics.get(project.id) ?? project),
    [found.data, statistics],
  );

  const columns = useMemo(
    () =>
      projectColumns((project) => (
        <ActionsMenu label={`Actions for ${project.name}`} isQuiet>
          <Menu.Item onClick={() => setEdited(project)}>Edit</Menu.Item>
          <Menu.Item
            color="danger"
            onClick={() =>
              confirm({
                title: `Delete ${project.name}?`,
                body: `This permanently deletes its ${counted(project.run_count, "trace")} and their feedback.`,
                action: "Delete",
                typed: project.name,
                run: async () => {
                  await deleteProject(project.id);
                  await client.invalidateQueries({ queryKey: ["projects"] });
                },
              })
            }
          >
            Delete
          </Menu.Item>
        </ActionsMenu>
      )),
    // `confirm` only opens a dialog
    [client],
  );

  return (
    <Page title="Traces" actions={<NewButton onClick={() => setNew(true)}>New project</NewButton>}>
      <Group gap="sm" mb="sm">
        <SearchField
          label="Search projects by name"
          placeholder="Search by name"
          initial={search.text}
          onSearch={(text: string) => void navigate({ search: { ...search, text }, replace: true })}
        />
        <Filters active={(search.tags === "" ? 0 : 1) + (search.experiments ? 1 : 0)}>
          <TagFilter
            value={search.tags}
            onChange={(tags) => void navigate({ search: { ...search, tags }, replace: true })}
          />
          <Switch
            size="xs"
            label="Include experiments"
            checked={search.experiments}
            onChange={({ currentTarget: { checked } }) =>
              void navigate({ search: { ...search, experiments: checked }, replace: true })
            }
          />
        </Filters>
      </Group>
      <LoadedList
        query={found}
        rows={10}
        list={projects}
        empty={
          search.text === "" && search.tags === "" ? (
            <NoProjects />
          ) : (
            <Empty title="No matching projects">Try another search.</Empty>
          )
        }
      >
        <DataTable
          label="Projects"
          columns={columns}
          rows={projects}
          rowKey={({ id }) => id}
          sort={{ id: search.sort, desc: search.desc }}
          onSort={({ id, desc }) =>
            void navigate({ search: { ...search, sort: id as ProjectSort, desc }, replace: true })
          }
          onOpen={({ id }) => void navigate({ to: "/projects/$projectId", params: { projectId: id } })}
          pages={found}
        />
      </LoadedList>
      {edited !== null && <EditProject project={edited} onClose={() => setEdited(null)} />}
      {isNew && <EditProject project="new" onClose={() => setNew(false)} />}
      {dialog}
    </Page>
  );
}

function NoProjects() {
  return (
    <Empty title="No traces yet">
      <Text size="sm" maw={560}>
        Runs of agents on this platform are traced automatically. For other applications, set{" "}
        <Code>LANGSMITH_TRACING=true</Code> and <Code>LANGSMITH_ENDPOINT</Code> to the URL of this installation&apos;s
        trace platform.
      </Text>
      <TracingSample project="default" />
    </Empty>
  );
}
