import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { findDataset } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { listProjects } from "../projects/list-projects.ts";
import { RunScope } from "../runs/run-scope.ts";
import { uploadExperiment } from "./upload-experiment.ts";
import { uploadAnswer, uploadBody } from "./upload-schema.ts";

/** Route of experiments that ran elsewhere. */
export function uploadExperimentRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag: "Datasets",
      method: "POST",
      ...v1("/datasets/upload-experiment"),
      permission: "datasets:create",
      summary:
        "Upload an experiment that ran elsewhere, with its dataset, runs and scores; repeating it changes nothing",
      body: uploadBody,
      out: { 200: uploadAnswer },
      auditFields: ["experiment_name", "dataset_name"],
      errors: [404, 409],
      async handler({ body, principal }) {
        const { datasetId, experimentId } = await uploadExperiment(deps, principal, body);
        const scope = RunScope.of(principal);
        const search = { id: [experimentId], include_stats: true, limit: 1, offset: 0 };
        const [dataset, { items }] = await Promise.all([
          findDataset(deps.sql, principal.workspaceId, datasetId),
          listProjects(deps, scope, search),
        ]);
        return rawJson(`{"dataset":${dataset},"experiment":${JSON.stringify(items[0] ?? null)}}`);
      },
    }),
  ];
}
