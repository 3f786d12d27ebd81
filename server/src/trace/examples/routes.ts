import type { Context } from "hono";
import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { publicUrl } from "../public-url.ts";
import { compileExampleFilter } from "./compile-filter.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";
import { serializeExample, serializeExamples, type WireContext } from "./serialize-example.ts";
import { resolveAsOf } from "../datasets/resolve-version.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { takeFromSourceRuns } from "./source-runs.ts";
import { createExamples, deleteExamples, updateExamples } from "./write-examples.ts";

const tag = "Examples";
const params = schema.exampleParams;

export function exampleRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const wire = (c: Context): WireContext => ({ links: deps.links, base: publicUrl(deps.settings, c) });

  const buildQuery = async (tenantId: string, params: schema.ExampleFilter): Promise<rows.ExampleQuery> => {
    const { dataset, filter, as_of: asOf } = params;
    if (dataset !== undefined && !(await findDatasetRow(sql, tenantId, dataset))) throw notFound("Dataset not found");
    return {
      ...params,
      as_of: await resolveAsOf(sql, tenantId, dataset, asOf),
      condition: filter ? compileExampleFilter(sql, filter) : undefined,
    };
  };
  const current = async (tenantId: string, id: string) => {
    const found = await rows.findExample(sql, tenantId, id, "latest");
    if (!found) throw notFound("Example not found");
    return found;
  };
  /** Returns examples in the order of the ids. */
  const byIds = async (tenantId: string, ids: string[]) => {
    const found = await Promise.all(ids.map((id) => rows.findExample(sql, tenantId, id, "latest")));
    return found.filter((example) => example !== undefined);
  };

  return [
    route({
      tag,
      method: "POST",
      ...v1("/examples"),
      permission: "datasets:create",
      summary: "Create an example",
      body: schema.createBody,
      out: { 200: schema.example },
      errors: [404, 409],
      async handler({ body, principal, c }) {
        const tenantId = principal.workspaceId;
        const withSources = await takeFromSourceRuns(deps, tenantId, body.dataset_id, [body]);
        const { example_ids } = await createExamples(sql, tenantId, body.dataset_id, withSources);
        return rawJson(serializeExample(wire(c), await current(tenantId, example_ids[0]!)));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/examples/bulk"),
      permission: "datasets:create",
      summary: "Create several examples of one dataset, as one version",
      body: schema.createBulkBody,
      out: { 200: z.array(schema.example) },
      errors: [404, 409],
      async handler({ body, principal, c }) {
        const tenantId = principal.workspaceId;
        const [datasetId, ...others] = new Set(body.map((example) => example.dataset_id));
        if (others.length > 0) throw unprocessable("dataset_id: all examples of a request must have the same dataset.");
        const withSources = await takeFromSourceRuns(deps, tenantId, datasetId!, body);
        const { example_ids } = await createExamples(sql, tenantId, datasetId!, withSources);
        return rawJson(serializeExamples(wire(c), await byIds(tenantId, example_ids)));
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/examples/bulk"),
      permission: "datasets:update",
      summary: "Update several examples of one dataset, as one version",
      body: schema.updateBulkBody,
      out: { 200: schema.writtenExamples },
      errors: [404],
      async handler({ body, principal, c }) {
        const tenantId = principal.workspaceId;
        const ids = body.map((change) => change.id);
        const [first, ...others] = new Set(
          (await rows.findExampleDatasets(sql, tenantId, ids)).map((change) => change.dataset_id),
        );
        if (first === undefined) throw notFound("Example not found");
        const isElsewhere = body.some((change) => change.dataset_id && change.dataset_id !== first);
        if (others.length > 0 || isElsewhere) {
          throw unprocessable(
            "dataset_id: all examples of a request must be in one dataset, and cannot be moved to another.",
          );
        }
        return c.json(await updateExamples(sql, tenantId, first, body));
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/examples"),
      permission: "datasets:read",
      summary: "List examples",
      query: schema.listQuery,
      out: { 200: z.array(schema.example) },
      errors: [400, 404],
      async handler({ query, principal, c }) {
        const filter = await buildQuery(principal.workspaceId, query);
        const page = await rows.listExamples(sql, principal.workspaceId, filter, query);
        return rawJson(serializeExamples(wire(c), page));
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/examples/count"),
      permission: "datasets:read",
      summary: "Count examples",
      query: schema.countQuery,
      out: { 200: z.int() },
      errors: [400, 404],
      async handler({ query, principal, c }) {
        const filter = await buildQuery(principal.workspaceId, query);
        return c.json(await rows.countExamples(sql, principal.workspaceId, filter));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/examples"),
      permission: "datasets:delete",
      summary: "Delete several examples; earlier versions of their datasets keep them",
      query: schema.deleteManyQuery,
      out: { 200: z.object({ message: z.string() }) },
      errors: [404, 409],
      async handler({ query, principal, c }) {
        await deleteExamples(sql, principal.workspaceId, query.example_ids);
        return c.json({ message: "Examples deleted" });
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/examples/:example_id"),
      permission: "datasets:read",
      summary: "Get an example, now or as of a version",
      query: schema.readQuery,
      out: { 200: schema.example },
      async handler({ params: { example_id: id }, query, principal, c }) {
        const tenantId = principal.workspaceId;
        const dataset = query.dataset ?? (await rows.findExampleDataset(sql, tenantId, id));
        const asOf = await resolveAsOf(sql, tenantId, dataset, query.as_of);
        const found = await rows.findExample(sql, tenantId, id, asOf);
        if (!found || found.dataset_id !== dataset) throw notFound("Example not found");
        return rawJson(serializeExample(wire(c), found));
      },
    }),
    route({
      tag,
      params,
      method: "PATCH",
      ...v1("/examples/:example_id"),
      permission: "datasets:update",
      summary: "Update an example",
      body: schema.updateBody,
      out: { 200: schema.example },
      async handler({ params: { example_id: id }, body, principal, c }) {
        const tenantId = principal.workspaceId;
        const { dataset_id: datasetId } = await current(tenantId, id);
        if (body.dataset_id && body.dataset_id !== datasetId) {
          throw unprocessable("dataset_id: an example cannot be moved to another dataset.");
        }
        await updateExamples(sql, tenantId, datasetId, [{ ...body, id }]);
        return rawJson(serializeExample(wire(c), await current(tenantId, id)));
      },
    }),
    route({
      tag,
      params,
      method: "DELETE",
      ...v1("/examples/:example_id"),
      permission: "datasets:delete",
      summary: "Delete an example; earlier versions of its dataset keep it",
      out: { 200: z.object({ message: z.string() }) },
      errors: [409],
      async handler({ params: { example_id: id }, principal, c }) {
        await deleteExamples(sql, principal.workspaceId, [id]);
        return c.json({ message: "Example deleted" });
      },
    }),
  ];
}
