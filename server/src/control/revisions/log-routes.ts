import type { Principal } from "../../base/auth/principal.ts";
import { route, type Route } from "../../base/http/route.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";
import { unknownDeployment, unknownRevision } from "../deployments/not-found.ts";
import { deploymentParams } from "../deployments/schema.ts";
import { findDeployment } from "../deployments/sql.ts";
import { revisionParams } from "./schema.ts";
import { findRevision } from "./sql.ts";
import * as schema from "../logs/schema.ts";
import { type LogKind, type LogRow, type LogsSelection, selectLogs } from "../logs/sql.ts";

const shared = { tag: "Logs", errorFamily: "validation", permission: "deployments:read" } as const;

type LogsQuery = {
  order?: "asc" | "desc" | null | undefined;
  limit: number;
  offset?: string | null | undefined;
  level?: string | null | undefined;
  query?: string | null | undefined;
  start_time?: string | null | undefined;
  end_time?: string | null | undefined;
};

/** Logs of builds and deployments, in both generations of endpoints. */
export function logRoutes(deps: ControlDeps): Route[] {
  const { sql } = deps;

  async function read(
    principal: Principal,
    target: { id: string; revision?: string; kind: LogKind },
    query: LogsQuery,
  ) {
    if (!(await findDeployment(sql, principal.workspaceId, target.id))) throw unknownDeployment(target.id);
    if (target.revision !== undefined && !(await findRevision(sql, target.id, target.revision))) {
      throw unknownRevision(target.id, target.revision);
    }
    const selection: LogsSelection = {
      deploymentId: target.id,
      revisionId: target.revision,
      kind: target.kind,
      order: query.order ?? "asc",
      limit: query.limit,
      after: query.offset ?? undefined,
      level: query.level ?? undefined,
      query: query.query ?? undefined,
      from: query.start_time ?? undefined,
      to: query.end_time ?? undefined,
    };
    const rows = await selectLogs(sql, selection);
    // also for an empty page, so that a follower can continue from it
    return { logs: rows.map(print), next_offset: rows.at(-1)?.id ?? selection.after ?? null };
  }

  const posted = (path: `/${string}`, kind: LogKind, ofRevision: boolean): Route =>
    route({
      ...shared,
      ...hosted(path),
      method: "POST",
      summary: `List log lines of the ${kind === "build" ? "build" : "deployment"}${ofRevision ? " of a revision" : ""}`,
      params: ofRevision ? revisionParams : deploymentParams,
      body: schema.logsBody,
      out: { 200: schema.logs },
      async handler({ params, body, principal, c }) {
        const { deployment_id: id, revision_id: revision } = params as { deployment_id: string; revision_id?: string };
        return c.json(await read(principal, { id, kind, ...(revision !== undefined && { revision }) }, body));
      },
    });

  return [
    posted("/v1/projects/:deployment_id/revisions/:revision_id/build_logs", "build", true),
    posted("/v1/projects/:deployment_id/revisions/:revision_id/deploy_logs", "deploy", true),
    posted("/v1/projects/:deployment_id/deploy_logs", "deploy", false),
    posted("/v1/projects/:deployment_id/build_logs", "build", false),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/revisions/:revision_id/logs"),
      method: "GET",
      summary: "List log lines of a revision's build or deployment",
      params: revisionParams,
      query: schema.revisionLogsQuery,
      out: { 200: schema.logs },
      async handler({ params, query, principal, c }) {
        const target = { id: params.deployment_id, revision: params.revision_id, kind: query.type };
        return c.json(await read(principal, target, { ...query, query: query.query ?? query.run_id }));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/logs"),
      method: "GET",
      summary: "List log lines of all revisions of a deployment",
      params: deploymentParams,
      query: schema.deploymentLogsQuery,
      out: { 200: schema.logs },
      async handler({ params, query, principal, c }) {
        const target = { id: params.deployment_id, kind: query.type ?? "deploy" } as const;
        return c.json(await read(principal, target, { ...query, query: query.query ?? query.run_id }));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployment-logs"),
      method: "GET",
      summary: "List log lines of a deployment page by page",
      query: schema.pagedLogsQuery,
      out: { 200: schema.pagedLogs },
      errors: [404],
      async handler({ query, principal, c }) {
        const target = {
          id: query.deployment_id,
          kind: query.log_type === "BUILD" ? ("build" as const) : ("deploy" as const),
          ...(query.revision_id !== undefined && { revision: query.revision_id }),
        };
        const { logs, next_offset: next } = await read(principal, target, {
          ...query,
          query: query.query ?? query.run_id,
          order: query.sort_order,
          limit: query.page_size,
          offset: query.cursor,
        });
        return c.json({ items: logs, next_cursor: logs.length < query.page_size ? null : next });
      },
    }),
  ];
}

const print = (row: LogRow) => ({
  id: row.id,
  timestamp: row.at.getTime(),
  level: row.level,
  message: row.message,
  revision_id: row.revision_id,
});
