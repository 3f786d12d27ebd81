import { Button, Skeleton, Switch, Title } from "@mantine/core";
import { IconMaximize } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useRef } from "react";

import type { ChartMarker } from "../../ui/chart-props.ts";
import { Filters } from "../../ui/filters.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { TimeRange } from "../../ui/time-range.ts";
import { TimeRangePicker } from "../../ui/time-range-picker.tsx";
import { useCopy } from "../../ui/use-copy.ts";
import { tagMovesQuery } from "../monitoring/queries.ts";
import { monitoringRange, zoomRange } from "../monitoring/monitoring-search.ts";
import { toMarker } from "../monitoring/tag-moves.tsx";
import { FilterField } from "../runs/filter-field.tsx";
import { type ChartActions, ChartCard } from "./chart-card.tsx";
import { sectionOf } from "./chart-series.ts";
import { type DashboardSearch, readGrouping } from "./dashboard-search.ts";
import classes from "./dashboard.module.css";
import { GroupPicker } from "./group-picker.tsx";
import { type ChartData, dashboardQuery, incidentMarksQuery, type Source } from "./queries.ts";

interface DashboardViewProps {
  source: Source;
  title: string;
  search: DashboardSearch;
  onSearch: (search: DashboardSearch) => void;
  actions?: ReactNode;
  /** Events that the charts show beside the moves of tags. */
  events?: readonly ChartMarker[] | undefined;
  /** Above the charts. */
  children?: (range: TimeRange) => ReactNode;
  actionsOf?: ((chart: ChartData, charts: readonly ChartData[]) => ChartActions) | undefined;
  /** Shown when there are no charts. */
  empty?: ReactNode;
}

/** A dashboard: its charts by section, over a period and against the one before. */
export function DashboardView({
  source,
  title,
  search,
  onSearch,
  actions,
  events,
  children,
  actionsOf,
  empty,
}: DashboardViewProps) {
  const range = monitoringRange(search);
  const common = { groupBy: readGrouping(search.group), filter: search.filter };
  const navigate = useNavigate();
  const wall = useRef<HTMLDivElement>(null);
  const { copy } = useCopy();
  const { data: dashboard, error, refetch } = useQuery(dashboardQuery(source, range, common));
  const { data: earlier } = useQuery(dashboardQuery(source, range, common, true));
  const { data: moves } = useQuery(tagMovesQuery(range));
  const { data: incidents } = useQuery(incidentMarksQuery(range));
  const markers = useMemo(
    () => [...(moves?.map(toMarker) ?? []), ...(incidents ?? []), ...(events ?? [])],
    [moves, incidents, events],
  );
  const before = useMemo(
    () => new Map(earlier ? sectionsOf(earlier).flatMap(({ charts }) => charts.map((chart) => [chart.id, chart])) : []),
    [earlier],
  );
  const change = (changes: DashboardSearch) => onSearch({ ...search, ...changes });
  const sections = dashboard ? sectionsOf(dashboard) : [];
  const openRuns = (chart: ChartData, start: number, end: number) => {
    const projectId = "projectId" in source ? source.projectId : chart.common_filters?.session?.[0];
    if (projectId === undefined) return;
    const filters = [search.filter, chart.common_filters?.filter, chart.series[0]?.filters?.filter].filter(
      (text) => text,
    );
    const isRoot = filters.includes("eq(is_root, true)");
    const rest = filters.filter((text) => text !== "eq(is_root, true)");
    void navigate({
      to: "/projects/$projectId",
      params: { projectId },
      search: {
        from: new Date(start * 1000).toISOString(),
        to: new Date(end * 1000).toISOString(),
        ...(!isRoot && { tab: "all" }),
        ...(rest.length > 0 && { filter: rest.length > 1 ? `and(${rest.join(", ")})` : rest[0] }),
      } as never,
    });
  };
  return (
    <Page
      title={title}
      isLate
      actions={
        <>
          <Filters active={(search.group === undefined ? 0 : 1) + (search.before === true ? 1 : 0)}>
            <Switch
              size="xs"
              label="Draw previous period"
              checked={search.before === true}
              onChange={(event) => change({ before: event.currentTarget.checked || undefined })}
            />
            <GroupPicker
              label="Group all charts by"
              isCompact
              value={search.group}
              onChange={(group) => change({ group })}
            />
          </Filters>
          <TimeRangePicker
            value={range}
            onChange={(next) => change({ last: undefined, from: undefined, to: undefined, ...next })}
          />
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              copy(location.href);
              notifyDone(`Copied. Members of the ${search.of ?? "workspace"} can open the link.`);
            }}
          >
            Share link
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconMaximize size={14} aria-hidden />}
            onClick={() => void wall.current?.requestFullscreen()}
          >
            Full screen
          </Button>
          {actions}
        </>
      }
    >
      <div ref={wall} className={classes["wall"]}>
        <FilterField
          label="Filter all charts"
          value={search.filter ?? ""}
          facts={[]}
          onApply={(filter) => change({ filter: filter || undefined })}
        />
        {children?.(range)}
        {error ? (
          <Problem error={error} title="Could not load the dashboard" onRetry={refetch} />
        ) : !dashboard ? (
          <div className={classes["grid"]}>
            {Array.from({ length: 6 }, (_, index) => (
              <Skeleton key={index} h={262} />
            ))}
          </div>
        ) : sections.every(({ charts }) => charts.length === 0) ? (
          empty
        ) : (
          sections.map(({ title: name, charts }) => (
            <section key={name} aria-label={name || "Charts"}>
              {name !== "" && (
                <Title order={2} size="h5" mt="md" mb="xs">
                  {name}
                </Title>
              )}
              <div className={classes["grid"]}>
                {charts.map((chart) => (
                  <ChartCard
                    key={chart.id}
                    chart={chart}
                    before={before.get(chart.id)}
                    showBefore={search.before === true}
                    markers={markers}
                    actions={actionsOf?.(chart, charts)}
                    onPick={openRuns}
                    onZoom={(from, to) => change({ last: undefined, ...zoomRange(from, to) })}
                  />
                ))}
              </div>
            </section>
          ))
        )}
      </div>
    </Page>
  );
}

interface ShownSection {
  title: string;
  charts: ChartData[];
}

/** Returns the sections of a project's dashboard, or of the charts' `metadata.section` in the order of their first. */
function sectionsOf({
  charts,
  sub_sections: given,
}: {
  charts: ChartData[];
  sub_sections?: ShownSection[] | null;
}): ShownSection[] {
  if (given) return given;
  const sections = new Map<string, ChartData[]>();
  for (const chart of charts) {
    const name = sectionOf(chart);
    sections.set(name, [...(sections.get(name) ?? []), chart]);
  }
  return Array.from(sections, ([title, charts]) => ({ title, charts }));
}
