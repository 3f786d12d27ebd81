import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { updateBaseline } from "./baseline-sql.ts";
import { compareExperiments } from "./compare-experiments.ts";
import * as schema from "./compare-schema.ts";
import { experimentHistory } from "./experiment-history.ts";
import { checkExperiments } from "./experiment-values.ts";

const shared = { tag: "Datasets", params: datasetParams } as const;

/** Heddle's own routes of comparisons with statistics. */
export function compareRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      method: "POST",
      ...v1("/datasets/:dataset_id/experiments/compare"),
      permission: "datasets:read",
      summary: "Compare experiments with a baseline: averages, paired differences with intervals, and examples",
      body: schema.compareBody,
      out: { 200: schema.comparison },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        return c.json(await compareExperiments(deps, principal.workspaceId, id, body));
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/datasets/:dataset_id/experiments/history"),
      permission: "datasets:read",
      summary: "List a dataset's newest experiments with averages, intervals, costs and latencies, oldest first",
      query: schema.historyQuery,
      out: { 200: schema.history },
      async handler({ params: { dataset_id: id }, query, principal, c }) {
        if (!(await findDatasetRow(deps.sql, principal.workspaceId, id))) throw notFound("Dataset not found");
        return c.json(await experimentHistory(deps, principal.workspaceId, id, query));
      },
    }),
    route({
      ...shared,
      method: "PUT",
      ...v1("/datasets/:dataset_id/baseline"),
      permission: "datasets:update",
      summary: "Set the experiment with which others on the dataset are compared; null removes it",
      body: schema.baselineBody,
      auditFields: ["experiment_id"],
      out: { 200: schema.baselineAnswer },
      async handler({ params: { dataset_id }, body: { experiment_id }, principal, c }) {
        const tenantId = principal.workspaceId;
        if (experiment_id !== null) await checkExperiments(deps, tenantId, dataset_id, [experiment_id]);
        if (!(await updateBaseline(deps.sql, tenantId, dataset_id, experiment_id))) throw notFound("Dataset not found");
        return c.json({ dataset_id, baseline_experiment_id: experiment_id });
      },
    }),
  ];
}
