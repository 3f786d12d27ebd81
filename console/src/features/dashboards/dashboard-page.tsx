import { Button, Menu } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { useConfirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { useOrganizationPermission, usePermission } from "../settings/use-permission.ts";
import type { ChartActions } from "./chart-card.tsx";
import { sectionOf } from "./chart-series.ts";
import { monitoringRange } from "../monitoring/monitoring-search.ts";
import { DashboardView } from "./dashboard-view.tsx";
import {
  type ChartBody,
  type ChartData,
  cloneDashboard,
  createChart,
  dashboardQuery,
  deleteChart,
  deleteDashboard,
  type Owner,
  projectsOf,
  revisionMarksQuery,
  updateChart,
} from "./queries.ts";

const ChartForm = lazy(async () => ({ default: (await import("./chart-form.tsx")).ChartForm }));
const route = getRouteApi("/_shell/dashboards/$dashboardId");

/** A dashboard of the workspace or of the organization, whose charts can be added, changed, ordered and removed. */
export function DashboardPage() {
  const { dashboardId } = route.useParams();
  const search = route.useSearch();
  const update = route.useNavigate();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [editing, setEditing] = useState<ChartData | "new" | null>(null);
  const { confirm, dialog } = useConfirm();
  const owner = search.of ?? "workspace";
  const isOwn = owner === "workspace";
  const managing = useOrganizationPermission("organization:manage", !isOwn);
  const own = [usePermission("charts:create"), usePermission("charts:update"), usePermission("charts:delete")] as const;
  const [creating, updating, deleting] = isOwn ? own : [managing, managing, managing];
  const source = { dashboardId, owner };
  const range = monitoringRange(search);
  const { data: dashboard } = useQuery(dashboardQuery(source, range));
  const selected = dashboard?.charts.map(projectsOf) ?? [];
  const projects = [...new Set(selected.flatMap((ids) => ids ?? []))].toSorted();
  const isOfAll = selected.includes(null) || projects.length > 100;
  const { data: revisions } = useQuery({
    ...revisionMarksQuery(range, isOfAll ? null : projects),
    enabled: isOwn && selected.length > 0,
  });
  const refresh = () => client.invalidateQueries({ queryKey: ["dashboards"] });
  const act = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSettled: refresh,
    onError: notifyFailure("Could not change the dashboard"),
  });
  const actionsOf = (shown: ChartData): ChartActions => {
    const charts = dashboard?.charts ?? [];
    // what is shown also has the filter and the grouping of the whole dashboard
    const chart = charts.find(({ id }) => id === shown.id) ?? shown;
    return {
      edit: () => setEditing(chart),
      copy: () => act.mutate(() => createChart(owner, { ...copyOf(chart), section_id: dashboardId })),
      remove: () =>
        confirm({
          title: `Delete ${chart.title}?`,
          body: "The chart is deleted. The runs stay.",
          action: "Delete",
          run: async () => {
            await deleteChart(owner, chart.id);
            await refresh();
          },
        }),
      resize: (width) => act.mutate(() => updateChart(owner, chart.id, { metadata: { ...chart.metadata, width } })),
      move: (by) =>
        act.mutate(() => reorder(owner, charts, chart.id, charts.findIndex(({ id }) => id === chart.id) + by)),
      take: (id) =>
        act.mutate(() =>
          reorder(
            owner,
            charts,
            id,
            charts.findIndex((one) => one.id === chart.id),
          ),
        ),
    };
  };
  const clone = () =>
    act.mutate(async () => {
      const { id } = await cloneDashboard({ dashboardId });
      await navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id } });
    });
  const remove = () =>
    confirm({
      title: "Delete this dashboard?",
      body: `The dashboard and its charts are deleted for all members of the ${owner}. The runs stay.`,
      action: "Delete",
      run: async () => {
        await deleteDashboard(owner, dashboardId);
        await navigate({ to: "/dashboards" });
        await client.invalidateQueries({ queryKey: ["dashboards", "list"] });
      },
    });
  const onSave = async (body: ChartBody) => {
    if (editing === "new" || editing === null) await createChart(owner, body);
    else await updateChart(owner, editing.id, body);
    await refresh();
  };
  return (
    <>
      <DashboardView
        source={source}
        title={dashboard?.title ?? "Dashboard"}
        search={search}
        events={revisions}
        onSearch={(next) => void update({ search: next, replace: true })}
        actionsOf={(creating ?? updating ?? deleting) ? undefined : actionsOf}
        actions={
          <>
            <Menu position="bottom-end">
              <Menu.Target>
                <Button size="xs" variant="default">
                  More
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {isOwn && (
                  <Menu.Item disabled={creating !== null} title={creating ?? undefined} onClick={clone}>
                    Duplicate
                  </Menu.Item>
                )}
                <Menu.Item color="danger" disabled={deleting !== null} title={deleting ?? undefined} onClick={remove}>
                  Delete
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
            <NewButton denial={creating} onClick={() => setEditing("new")}>
              Add chart
            </NewButton>
          </>
        }
        empty={
          <Empty title="No charts yet">
            Add a chart of any metric of runs, traces, tokens, cost or feedback, with a filter and groups.
          </Empty>
        }
      />
      <Suspense>
        {editing !== null && (
          <ChartForm
            dashboardId={dashboardId}
            owner={owner}
            initial={editing === "new" ? undefined : editing}
            sections={[...new Set((dashboard?.charts ?? []).map(sectionOf))]}
            range={range}
            onSave={onSave}
            onClose={() => setEditing(null)}
          />
        )}
      </Suspense>
      {dialog}
    </>
  );
}

function copyOf({ title, description, chart_type, metadata, common_filters, series }: ChartData): ChartBody {
  return {
    title: `${title}, copy`.slice(0, 512),
    description: description ?? null,
    chart_type,
    metadata: metadata ?? null,
    common_filters: common_filters ?? null,
    series: series.map(({ id: _id, project_metric: _metric, ...one }) => one) as ChartBody["series"],
  };
}

/** Moves a chart to a place and numbers those whose place changed. */
async function reorder(owner: Owner, charts: readonly ChartData[], id: string, place: number): Promise<void> {
  const moved = charts.find((chart) => chart.id === id);
  if (!moved || place < 0 || place >= charts.length) return;
  const order = charts.filter((chart) => chart !== moved);
  order.splice(place, 0, moved);
  const target = charts[place]!;
  for (const [index, chart] of order.entries()) {
    const joins = chart === moved && sectionOf(chart) !== sectionOf(target);
    if (chart.index === index && !joins) continue;
    await updateChart(owner, chart.id, {
      index,
      ...(joins && { metadata: { ...chart.metadata, section: sectionOf(target) || undefined } }),
    });
  }
}
