import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { changeExperiment, NOT_FOUND, retryFailed } from "./change-experiment.ts";
import { createExperiment } from "./create-experiment.ts";
import { listRows } from "./row-sql.ts";
import * as schema from "./schema.ts";
import { serializeJob } from "./serialize-job.ts";
import { findJob, findJobStatus, listJobs } from "./sql.ts";

const tag = "Experiments";
const changing = {
  tag,
  method: "POST",
  permission: "models:call",
  params: schema.jobParams,
  errors: [404, 409],
} as const;

/** Routes of experiments that Heddle executes. */
export function experimentRunRoutes(deps: TraceDeps): Route[] {
  const { sql, settings } = deps;
  const read = async (tenantId: string, id: string): Promise<object> => {
    const row = await findJob(sql, tenantId, id);
    if (!row) throw notFound(NOT_FOUND);
    return serializeJob(row, settings.consoleUrl);
  };
  const change = async (tenantId: string, id: string, event: "cancel" | "resume"): Promise<object> => {
    await changeExperiment(deps, tenantId, id, event);
    return read(tenantId, id);
  };

  return [
    route({
      tag,
      method: "POST",
      ...v1("/experiments/runs"),
      permission: "models:call",
      auditFields: ["name", "dataset_id", "dataset_name"],
      summary: "Run a target over the examples of a dataset as an experiment, in the background",
      body: schema.createBody,
      out: { 201: schema.job },
      errors: [404, 409, 424],
      async handler({ body, principal, c }) {
        const id = await createExperiment(deps, principal, body);
        deps.experimentRuns.wake();
        return c.json((await read(principal.workspaceId, id)) as never, 201);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/experiments/runs"),
      permission: "datasets:read",
      summary: "List the experiments that Heddle executes or has executed, newest first",
      query: schema.listQuery,
      out: { 200: schema.jobList },
      async handler({ query, principal, c }) {
        const found = await listJobs(sql, principal.workspaceId, query);
        return c.json({
          items: found.map((row) => serializeJob(row, settings.consoleUrl)),
          total: found[0]?.full_count ?? 0,
        } as never);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/experiments/runs/:experiment_run_id"),
      permission: "datasets:read",
      summary: "Get an experiment with its progress, mean scores, latency and cost so far",
      params: schema.jobParams,
      out: { 200: schema.job },
      errors: [404],
      handler: async ({ params, principal, c }) =>
        c.json((await read(principal.workspaceId, params.experiment_run_id)) as never),
    }),
    route({
      tag,
      method: "GET",
      ...v1("/experiments/runs/:experiment_run_id/rows"),
      permission: "datasets:read",
      summary: "List the rows of an experiment: one for each example and repetition",
      params: schema.jobParams,
      query: schema.rowsQuery,
      out: { 200: z.array(schema.jobRow) },
      errors: [404],
      async handler({ params: { experiment_run_id: id }, query, principal, c }) {
        const { workspaceId } = principal;
        if ((await findJobStatus(sql, workspaceId, id)) === undefined) throw notFound(NOT_FOUND);
        return c.json((await listRows(sql, workspaceId, id, query)) as never);
      },
    }),
    route({
      ...changing,
      ...v1("/experiments/runs/:experiment_run_id/cancel"),
      summary: "Cancel an experiment; its runs stay, and it can be resumed",
      out: { 200: schema.job },
      handler: async ({ params, principal, c }) =>
        c.json((await change(principal.workspaceId, params.experiment_run_id, "cancel")) as never),
    }),
    route({
      ...changing,
      ...v1("/experiments/runs/:experiment_run_id/resume"),
      summary: "Resume a cancelled or stopped experiment: execute the rows that have not ended",
      out: { 200: schema.job },
      handler: async ({ params, principal, c }) =>
        c.json((await change(principal.workspaceId, params.experiment_run_id, "resume")) as never),
    }),
    route({
      ...changing,
      ...v1("/experiments/runs/:experiment_run_id/retry"),
      summary: "Execute the failed rows of an experiment again, and judge those whose evaluators failed",
      out: { 200: schema.retried },
      async handler({ params, principal, c }) {
        return c.json({ retried: await retryFailed(deps, principal, params.experiment_run_id) });
      },
    }),
  ];
}
