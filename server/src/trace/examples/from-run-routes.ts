import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow, updateRunMapping } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { examplesFromRuns } from "./examples-from-runs.ts";
import * as schema from "./from-run-schema.ts";

const tag = "Examples";
const params = datasetParams;

/** Routes that make examples of runs, by a mapping that the dataset remembers. */
export function exampleFromRunRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      tag,
      params,
      method: "POST",
      ...v1("/datasets/:dataset_id/examples-from-runs"),
      permission: "datasets:create",
      summary: "Make examples of runs by a mapping, without duplicates; with dry_run as a preview",
      body: schema.fromRunsBody,
      out: { 200: schema.fromRunsAnswer },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        return c.json(await examplesFromRuns(deps, principal.workspaceId, id, body));
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/run-mapping"),
      permission: "datasets:read",
      summary: "Get the mapping of runs to examples that a dataset remembers",
      out: { 200: schema.mappingBody },
      async handler({ params: { dataset_id: id }, principal, c }) {
        const dataset = await findDatasetRow(sql, principal.workspaceId, id);
        if (!dataset) throw notFound("Dataset not found");
        return c.json({ mapping: dataset.run_mapping });
      },
    }),
    route({
      tag,
      params,
      method: "PUT",
      ...v1("/datasets/:dataset_id/run-mapping"),
      permission: "datasets:update",
      summary: "Set the mapping of runs to examples of a dataset",
      body: schema.mappingBody,
      out: { 200: schema.mappingBody },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        if (!(await updateRunMapping(sql, principal.workspaceId, id, body.mapping)))
          throw notFound("Dataset not found");
        return c.json(body);
      },
    }),
  ];
}
