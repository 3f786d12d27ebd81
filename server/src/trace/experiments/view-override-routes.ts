import { z } from "zod";

import { conflict, notFound } from "../../base/errors.ts";
import { platform, v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import * as schema from "./view-override-schema.ts";
import * as rows from "./view-override-sql.ts";

const tag = "Datasets";
const params = schema.overrideParams;

/** Paths of both generations of clients. */
const paths = (path: `/${string}`) => {
  const { path: other, aliases } = platform(path);
  return { path: v1(path).path, aliases: [...v1(path).aliases, other, ...aliases] };
};

const found = (item: string | undefined): string => {
  if (item === undefined) throw notFound("Experiment view override not found");
  return item;
};

/** Routes of how a dataset's experiments are shown. */
export function viewOverrideRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  const checkDataset = async (tenantId: string, id: string) => {
    if (!(await findDatasetRow(sql, tenantId, id))) throw notFound("Dataset not found");
  };
  return [
    route({
      tag,
      method: "GET",
      ...paths("/datasets/:dataset_id/experiment-view-overrides"),
      permission: "datasets:read",
      summary: "List how columns of a dataset's experiments are shown",
      params: datasetParams,
      out: { 200: z.array(schema.viewOverride) },
      async handler({ params: { dataset_id: id }, principal: { workspaceId } }) {
        await checkDataset(workspaceId, id);
        return rawJson(await rows.listOverrides(sql, workspaceId, id));
      },
    }),
    route({
      tag,
      method: "POST",
      ...paths("/datasets/:dataset_id/experiment-view-overrides"),
      permission: "datasets:update",
      summary: "Set how columns of a dataset's experiments are shown",
      params: datasetParams,
      body: schema.overrideBody,
      out: { 201: schema.viewOverride },
      errors: [409],
      async handler({ params: { dataset_id: id }, body, principal: { workspaceId } }) {
        await checkDataset(workspaceId, id);
        const item = await rows.insertOverride(sql, workspaceId, id, uuid7(), body.column_overrides);
        if (item === undefined) throw conflict("The dataset has an override. Change it by PATCH.");
        return rawJson(item, {}, 201);
      },
    }),
    route({
      tag,
      method: "GET",
      ...paths("/datasets/:dataset_id/experiment-view-overrides/:override_id"),
      permission: "datasets:read",
      summary: "Get how columns of a dataset's experiments are shown",
      params,
      out: { 200: schema.viewOverride },
      handler: async ({ params: { dataset_id, override_id }, principal }) =>
        rawJson(found(await rows.findOverride(sql, principal.workspaceId, dataset_id, override_id))),
    }),
    route({
      tag,
      method: "PATCH",
      ...paths("/datasets/:dataset_id/experiment-view-overrides/:override_id"),
      permission: "datasets:update",
      summary: "Replace how columns of a dataset's experiments are shown",
      params,
      body: schema.overrideBody,
      out: { 200: schema.viewOverride },
      async handler({ params: { dataset_id, override_id }, body, principal: { workspaceId } }) {
        const changed = rows.updateOverride(sql, workspaceId, dataset_id, override_id, body.column_overrides);
        return rawJson(found(await changed));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...paths("/datasets/:dataset_id/experiment-view-overrides/:override_id"),
      permission: "datasets:update",
      summary: "Show columns of a dataset's experiments as usual again",
      params,
      out: { 204: null },
      async handler({ params: { dataset_id, override_id }, principal, c }) {
        if (!(await rows.deleteOverride(sql, principal.workspaceId, dataset_id, override_id))) found(undefined);
        return c.body(null, 204);
      },
    }),
  ];
}
