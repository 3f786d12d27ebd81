import { Menu, Tabs } from "@mantine/core";
import { IconBulb, IconChartLine } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { ActionsMenu } from "../../ui/actions-menu.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { EditProject } from "../projects/edit-project.tsx";
import { deleteProject, projectQuery } from "../projects/queries.ts";
import { FilterBar } from "./filter-bar.tsx";
import { RUN_SEARCH, type RunSearch, type Tab } from "./run-search.ts";
import { RunsTable } from "./runs-table.tsx";
import { ThreadsTable } from "./threads-table.tsx";

const ThreadReplay = lazy(async () => ({ default: (await import("../traces/thread-replay.tsx")).ThreadReplay }));
const NAMES: [Tab, string][] = [
  ["traces", "Traces"],
  ["llm", "LLM calls"],
  ["all", "All runs"],
  ["threads", "Threads"],
];

/** The runs of a project; the URL contains the search. */
export function ProjectPage() {
  const { projectId } = useParams({ from: "/_shell/projects/$projectId/" });
  const search: RunSearch = { ...RUN_SEARCH, ...useSearch({ from: "/_shell/projects/$projectId/" }) };
  const navigate = useNavigate({ from: "/projects/$projectId/" });
  const project = useQuery(projectQuery(projectId));
  const change = (changes: Partial<RunSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: !("tab" in changes) });
  if (project.isLoadingError) return <LoadState query={project} />;
  return (
    <Page title={project.data?.name ?? "Project"} actions={<Actions projectId={projectId} />}>
      <Tabs
        value={search.tab}
        onChange={(tab) => change({ tab: (tab ?? "traces") as Tab, thread: "", turn: 0 })}
        keepMounted={false}
        mb="sm"
      >
        <TabList>
          {NAMES.map(([tab, name]) => (
            <Tabs.Tab key={tab} value={tab}>
              {name}
            </Tabs.Tab>
          ))}
        </TabList>
        {search.thread === "" && <FilterBar projectId={projectId} search={search} onChange={change} />}
        {NAMES.map(([tab]) => (
          <Tabs.Panel key={tab} value={tab}>
            {tab === "threads" && search.thread !== "" ? (
              <Suspense fallback={<Loading rows={12} />}>
                <ThreadReplay projectId={projectId} search={search} onChange={change} />
              </Suspense>
            ) : tab === "threads" ? (
              <ThreadsTable projectId={projectId} search={search} onChange={change} />
            ) : (
              <RunsTable projectId={projectId} search={search} onChange={change} />
            )}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

function Actions({ projectId }: { projectId: string }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data: project } = useQuery(projectQuery(projectId));
  const { confirm, dialog } = useConfirm();
  const [isEdited, setEdited] = useState(false);
  return (
    <>
      <ButtonLink
        to="/projects/$projectId/monitoring"
        params={{ projectId }}
        variant="default"
        size="xs"
        leftSection={<IconChartLine size={14} aria-hidden />}
      >
        Monitoring
      </ButtonLink>
      <ButtonLink
        to="/projects/$projectId/insights"
        params={{ projectId }}
        variant="default"
        size="xs"
        leftSection={<IconBulb size={14} aria-hidden />}
      >
        Insights
      </ButtonLink>
      <ActionsMenu label="Project actions">
        <Menu.Item onClick={() => void navigate({ to: "/alerts", search: { project: projectId } })}>Alerts</Menu.Item>
        <Menu.Item onClick={() => setEdited(true)}>Edit</Menu.Item>
        <Menu.Item
          color="danger"
          disabled={!project}
          onClick={() =>
            confirm({
              title: `Delete ${project!.name}?`,
              body: "This permanently deletes its traces and their feedback.",
              action: "Delete",
              typed: project!.name,
              run: async () => {
                await deleteProject(projectId);
                await navigate({ to: "/projects" });
                await client.invalidateQueries({ queryKey: ["projects"] });
              },
            })
          }
        >
          Delete
        </Menu.Item>
      </ActionsMenu>
      {isEdited && project && <EditProject project={project} onClose={() => setEdited(false)} />}
      {dialog}
    </>
  );
}
