import { z } from "zod";

import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { uuid } from "../../base/http/fields.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { comparison, createBody, listed, listQuery } from "./comparative-schema.ts";
import * as rows from "./comparative-sql.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";

const tag = "Datasets";

/**
 * Routes of pairwise comparisons of experiments on one dataset. The judgements are feedback that names
 * the comparison.
 */
export function comparativeRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      tag,
      method: "POST",
      ...v1("/datasets/comparative"),
      permission: "datasets:create",
      summary: "Create a comparison of experiments",
      body: createBody,
      out: { 200: comparison },
      errors: [404, 409],
      async handler({ body, principal }) {
        const tenantId = principal.workspaceId;
        const experiment_ids = [...new Set(body.experiment_ids)];
        const found = await rows.findExperiments(sql, tenantId, experiment_ids);
        if (found.length < experiment_ids.length) throw notFound("Experiment not found");
        const datasets = new Set(found.map((experiment) => experiment.dataset));
        const dataset = body.reference_dataset_id ?? found[0]!.dataset;
        if (dataset === null || datasets.size > 1 || !datasets.has(dataset)) {
          throw unprocessable("experiment_ids: all experiments of a comparison must use the reference dataset.");
        }
        if (!(await findDatasetRow(sql, tenantId, dataset))) throw notFound("Dataset not found");
        const item = await rows.insertComparison(sql, tenantId, {
          id: body.id ?? uuid7(),
          reference_dataset_id: dataset,
          experiment_ids,
          name: body.name ?? null,
          description: body.description ?? null,
          extra: body.extra ?? null,
          created_at: body.created_at ?? new Date().toISOString(),
        });
        if (item === undefined) throw conflict("A comparison with this id already exists.");
        return rawJson(item);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/datasets/:dataset_id/comparative"),
      permission: "datasets:read",
      summary: "List the comparisons of a dataset's experiments",
      params: datasetParams,
      query: listQuery,
      out: { 200: z.array(listed) },
      async handler({ params: { dataset_id: id }, query, principal }) {
        if (!(await findDatasetRow(sql, principal.workspaceId, id))) throw notFound("Dataset not found");
        return rawJson(await rows.listComparisons(sql, principal.workspaceId, id, query));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/datasets/comparative/:comparative_experiment_id"),
      permission: "datasets:delete",
      summary: "Delete a comparison; its feedback stays",
      params: z.object({ comparative_experiment_id: uuid }),
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params, principal, c }) {
        const deleted = await rows.deleteComparison(sql, principal.workspaceId, params.comparative_experiment_id);
        if (!deleted) throw notFound("Comparison not found");
        return c.json({ message: "Comparison deleted" });
      },
    }),
  ];
}
