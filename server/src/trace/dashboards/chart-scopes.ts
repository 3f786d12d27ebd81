/** Dashboards of a workspace, and those of an organization over all its workspaces that a reader may read. */
import type { Permission } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { unprocessable } from "../../base/errors.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { listPermittedWorkspaces } from "../../identity/workspaces/readable-workspaces.ts";
import type { TraceDeps } from "../deps.ts";
import { checkCharted, checkSeries, type NewSeries } from "./change-charts.ts";
import { type Charted, readCharts } from "./chart-data.ts";
import { mergeWorkspaces } from "./merge-workspaces.ts";
import type { ChartFilters, DataPoint, Period } from "./schema.ts";

/** Whose dashboards they are, and the runs that their charts show. */
export interface ChartScope {
  root: "/charts" | "/org-charts";
  /** What summaries say after the noun. */
  of: string;
  permissions: Record<"create" | "update" | "delete", Permission>;
  /** Id under which they are stored: that of the workspace or the organization. */
  owner(principal: Principal): string;
  /** @throws for series that may not be stored or read */
  check(principal: Principal, series: readonly NewSeries[], common: ChartFilters | null | undefined): Promise<void>;
  /** Returns the data of each chart. `needed`: permissions beside `charts:read` that the read workspaces must grant. */
  read(
    principal: Principal,
    charts: readonly Charted[],
    period: Period,
    needed?: readonly Permission[],
  ): Promise<DataPoint[][]>;
}

const WRITING = { create: "charts:create", update: "charts:update", delete: "charts:delete" } as const;
const MANAGING = {
  create: "organization:manage",
  update: "organization:manage",
  delete: "organization:manage",
} as const;

export const workspaceScope = (deps: TraceDeps): ChartScope => ({
  root: "/charts",
  of: "",
  permissions: WRITING,
  owner: ({ workspaceId }) => workspaceId,
  check: ({ workspaceId }, series, common) => checkCharted(deps, workspaceId, series, common),
  read: ({ workspaceId }, charts, period) => readCharts(deps, workspaceId, charts, period),
});

/** Workspaces of one answer: each is read for itself. */
const MAX_WORKSPACES = 50;
const AT_ONCE = 2;

export function organizationScope(deps: TraceDeps): ChartScope {
  const readable = (principal: Principal, needed: readonly Permission[] = []) =>
    listPermittedWorkspaces(deps.sql, principal, ["charts:read", ...needed]);
  return {
    root: "/org-charts",
    of: " of the organization",
    permissions: MANAGING,
    owner: ({ organizationId }) => organizationId,
    async check(principal, series, common) {
      checkSeries(series, common);
      const known = new Set((await readable(principal)).map(({ id }) => id));
      for (const { name, metric, workspace_id: id, denominator } of series) {
        if (id != null && !known.has(id))
          throw unprocessable(
            `series "${name}": workspace_id is not a workspace of the organization that you may read`,
          );
        if ([metric, denominator?.metric].some((one) => one?.startsWith("feedback")))
          throw unprocessable(`series "${name}": charts of an organization have no metrics of feedback`);
      }
    },
    async read(principal, charts, period, needed) {
      const workspaces = await readable(principal, needed);
      if (workspaces.length > MAX_WORKSPACES && charts.some(({ series }) => series.some((one) => !one.workspace_id)))
        throw unprocessable(
          `You may read ${workspaces.length} workspaces, and a series without workspace_id is read in at most ${MAX_WORKSPACES}.`,
        );
      const answers = new Map<string, DataPoint[][]>();
      await inParallel(workspaces, AT_ONCE, async ({ id }) => {
        const own = charts.map((chart) => ({
          ...chart,
          series: chart.series.filter(({ workspace_id: of }) => of == null || of === id),
        }));
        if (own.some(({ series }) => series.length > 0)) answers.set(id, await readCharts(deps, id, own, period));
      });
      return charts.map((chart, index) =>
        mergeWorkspaces(
          chart.series,
          workspaces.flatMap(({ id, display_name: name }) => {
            const data = answers.get(id)?.[index];
            return data ? [{ id, name, data }] : [];
          }),
        ),
      );
    },
  };
}
