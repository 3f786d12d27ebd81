import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { changeDataset } from "./change-dataset.ts";
import { createDataset } from "./create-dataset.ts";
import { deleteDatasets } from "./delete-datasets.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Datasets";
const params = schema.datasetParams;

export function datasetRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const read = async (tenantId: string, id: string): Promise<Response> => {
    const item = await rows.findDataset(sql, tenantId, id);
    if (item === undefined) throw notFound("Dataset not found");
    return rawJson(item);
  };

  return [
    route({
      tag,
      method: "POST",
      ...v1("/datasets"),
      permission: "datasets:create",
      summary: "Create a dataset",
      body: schema.createBody,
      out: { 200: schema.dataset },
      errors: [409],
      async handler({ body, principal }) {
        const id = await sql.begin((tx) => createDataset(tx, principal.workspaceId, body));
        return read(principal.workspaceId, id);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/datasets"),
      permission: "datasets:read",
      summary: "List datasets",
      query: schema.listQuery,
      out: { 200: z.array(schema.dataset) },
      handler: async ({ query, principal }) => rawJson(await rows.listDatasets(sql, principal.workspaceId, query)),
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/datasets"),
      permission: "datasets:delete",
      summary: "Delete several datasets with all versions of their examples",
      query: schema.deleteManyQuery,
      out: { 200: schema.deleted },
      errors: [404, 409],
      async handler({ query, principal, c }) {
        await deleteDatasets(deps, principal.workspaceId, query.dataset_ids);
        return c.json({ message: "Datasets deleted" });
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id"),
      permission: "datasets:read",
      summary: "Get a dataset",
      out: { 200: schema.dataset },
      handler: ({ params: { dataset_id }, principal }) => read(principal.workspaceId, dataset_id),
    }),
    route({
      tag,
      params,
      method: "PATCH",
      ...v1("/datasets/:dataset_id"),
      permission: "datasets:update",
      summary: "Update a dataset",
      body: schema.patchBody,
      out: { 200: schema.dataset },
      errors: [409],
      async handler({ params: { dataset_id }, body, principal }) {
        await changeDataset(sql, principal.workspaceId, dataset_id, body);
        return read(principal.workspaceId, dataset_id);
      },
    }),
    route({
      tag,
      params,
      method: "DELETE",
      ...v1("/datasets/:dataset_id"),
      permission: "datasets:delete",
      summary: "Delete a dataset with all versions of its examples; its experiments stay",
      out: { 200: schema.deleted },
      errors: [409],
      async handler({ params: { dataset_id }, principal, c }) {
        await deleteDatasets(deps, principal.workspaceId, [dataset_id]);
        return c.json({ message: "Dataset deleted" });
      },
    }),
  ];
}
