import { conflict, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { listClusters } from "./cluster-sql.ts";
import { createJob } from "./create-job.ts";
import { estimateJob } from "./estimate-job.ts";
import { listRunsOfJob } from "./list-runs.ts";
import * as schema from "./schema.ts";
import { clusterToWire, jobToWire, statusOf } from "./serialize.ts";
import * as rows from "./sql.ts";

const shared = { tag: "Insights" } as const;
const BASE = "/sessions/:session_id/insights";
const NOT_FOUND = "Insights job not found";

/** Routes of insights jobs, their clusters and runs. */
export function insightRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const find = async (tenantId: string, { session_id, job_id }: { session_id: string; job_id: string }) => {
    const row = await rows.findJob(sql, tenantId, session_id, job_id);
    if (!row) throw notFound(NOT_FOUND);
    return row;
  };

  return [
    route({
      ...shared,
      ...v1(BASE),
      method: "GET",
      permission: "runs:read",
      summary: "List a project's insights jobs, the latest first",
      params: schema.sessionParams,
      query: schema.listQuery,
      out: { 200: schema.jobs },
      async handler({ params, query, principal, c }) {
        await checkProjects(deps, RunScope.of(principal), [params.session_id]);
        const page = { limit: query.limit, offset: query.offset, config: query.config_id };
        const found = await rows.listJobs(sql, principal.workspaceId, params.session_id, page);
        return c.json({ clustering_jobs: found.map(jobToWire) });
      },
    }),
    route({
      ...shared,
      ...v1(BASE),
      method: "POST",
      permission: "models:call",
      summary: "Start an insights job, which finds recurring kinds of questions or failures",
      auditFields: ["name"],
      params: schema.sessionParams,
      body: schema.createBody,
      out: { 200: schema.created },
      errors: [400, 424],
      async handler({ params, body, principal, c }) {
        await checkProjects(deps, RunScope.of(principal), [params.session_id]);
        const job_id = await createJob(deps, principal, params.session_id, body);
        const { id, name, error, ...row } = await find(principal.workspaceId, { ...params, job_id });
        return c.json({ id, name, status: statusOf(row), error });
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/estimate`),
      method: "POST",
      permission: "models:read",
      summary: "Estimate what an insights job would read and cost",
      audit: "none",
      params: schema.sessionParams,
      body: schema.createBody,
      out: { 200: schema.estimate },
      errors: [400, 424],
      async handler({ params, body, principal, c }) {
        await checkProjects(deps, RunScope.of(principal), [params.session_id]);
        return c.json(await estimateJob(deps, principal.workspaceId, params.session_id, body));
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id`),
      method: "GET",
      permission: "runs:read",
      summary: "Get an insights job with its clusters and its report",
      params: schema.jobParams,
      out: { 200: schema.jobWithClusters },
      async handler({ params, principal, c }) {
        const row = await find(principal.workspaceId, params);
        const clusters = await listClusters(sql, principal.workspaceId, params.job_id);
        return c.json({ ...jobToWire(row), clusters: clusters.map(clusterToWire), report: row.report });
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id`),
      method: "PATCH",
      permission: "projects:update",
      summary: "Rename an insights job",
      auditFields: ["name"],
      params: schema.jobParams,
      body: schema.renameBody,
      out: { 200: schema.renamed },
      async handler({ params, body, principal, c }) {
        const { session_id, job_id } = params;
        if (!(await rows.renameJob(sql, principal.workspaceId, session_id, job_id, body.name))) {
          throw notFound(NOT_FOUND);
        }
        return c.json({ name: body.name, status: statusOf(await find(principal.workspaceId, params)) });
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id`),
      method: "DELETE",
      permission: "projects:update",
      summary: "Delete an insights job; the runs stay",
      params: schema.jobParams,
      out: { 200: schema.deleted },
      async handler({ params, principal, c }) {
        const { session_id, job_id: id } = params;
        if (!(await rows.deleteJob(sql, principal.workspaceId, session_id, id))) throw notFound(NOT_FOUND);
        return c.json({ id, message: "Insights job deleted" });
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id/cancel`),
      method: "POST",
      permission: "models:call",
      summary: "Cancel an insights job; what it has stays",
      params: schema.jobParams,
      out: { 200: schema.job },
      errors: [409],
      async handler({ params, principal, c }) {
        const { session_id, job_id } = params;
        const cancelled = await rows.cancelJob(sql, principal.workspaceId, session_id, job_id);
        const row = await find(principal.workspaceId, params);
        if (!cancelled) throw conflict(`The insights job has ended: its state is ${row.state}.`);
        return c.json(jobToWire(row));
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id/resume`),
      method: "POST",
      permission: "models:call",
      summary: "Resume an insights job that was stopped, cancelled or failed, where it ended",
      params: schema.jobParams,
      body: schema.resumeBody,
      out: { 200: schema.job },
      errors: [409],
      async handler({ params, body, principal, c }) {
        const { session_id, job_id } = params;
        const resumed = await rows.resumeJob(sql, principal.workspaceId, session_id, job_id, body.budget_usd);
        const row = await find(principal.workspaceId, params);
        if (!resumed) throw conflict(`The insights job cannot be resumed: its state is ${row.state}.`);
        deps.insights.wake();
        return c.json(jobToWire(row));
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id/clusters/:cluster_id`),
      method: "GET",
      permission: "runs:read",
      summary: "Get a cluster of an insights job",
      params: schema.clusterParams,
      out: { 200: schema.cluster },
      async handler({ params, principal, c }) {
        await find(principal.workspaceId, params);
        const clusters = await listClusters(sql, principal.workspaceId, params.job_id);
        const found = clusters.find(({ id }) => id === params.cluster_id);
        if (!found) throw notFound("Insights cluster not found");
        return c.json(clusterToWire(found));
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:job_id/runs`),
      method: "GET",
      permission: "runs:read",
      summary: "List the runs of an insights job, or of one cluster and those below it",
      params: schema.jobParams,
      query: schema.runsQuery,
      out: { 200: schema.runs },
      async handler({ params, query, principal, c }) {
        await find(principal.workspaceId, params);
        const scope = RunScope.of(principal);
        const context = serializationContext(deps.settings, scope, c);
        return c.json(await listRunsOfJob(deps, scope, context, params.job_id, query));
      },
    }),
  ];
}
