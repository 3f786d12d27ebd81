import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { queryFalse, uuid } from "../../base/http/fields.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { listProjects } from "../projects/list-projects.ts";
import { listQuery, projectWithStats } from "../projects/schema.ts";
import { publicUrl } from "../public-url.ts";
import { RunScope } from "../runs/run-scope.ts";
import { compileExampleFilter } from "../examples/compile-filter.ts";
import { example, listQuery as exampleQuery } from "../examples/schema.ts";
import { countExamples, listExamples } from "../examples/sql.ts";
import { serializeExamples } from "../examples/serialize-example.ts";
import { dataset, datasetParams } from "../datasets/schema.ts";
import * as rows from "./dataset-sql.ts";
import { findDatasetRow, findSharedDataset } from "../datasets/sql.ts";

const shared = { tag: "Sharing", params: datasetParams } as const;
const experimentsQuery = listQuery.pick({
  id: true,
  name: true,
  name_contains: true,
  dataset_version: true,
  sort_by: true,
  sort_by_desc: true,
  sort_by_feedback_key: true,
  facets: true,
  limit: true,
  offset: true,
});
const isLatest = z.literal("latest", "must be latest: a shared dataset shows its latest version").optional();
const examplesQuery = exampleQuery
  .pick({ id: true, metadata: true, filter: true, select: true, limit: true, offset: true })
  .extend({ as_of: isLatest });
const countQuery = examplesQuery.pick({ id: true, metadata: true, filter: true, as_of: true });
const share = z.object({ dataset_id: z.guid(), share_token: z.guid() }).meta({ id: "DatasetShare" });
const byToken = {
  tag: "Sharing",
  permission: "public",
  publicBecause: "the random token in the path is the credential",
  params: z.object({ share_token: uuid }),
} as const;

/** Routes of shared datasets. A share token grants read access to the current state. */
export function datasetShareRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const found = async (token: string) => {
    const row = await findSharedDataset(sql, token);
    if (!row) throw notFound("Shared dataset not found");
    return row;
  };
  const buildFilter = (dataset: string, { id, metadata, filter }: z.output<typeof countQuery>) => ({
    dataset,
    id,
    metadata,
    condition: filter ? compileExampleFilter(sql, filter) : undefined,
    as_of: "latest" as const,
  });

  return [
    route({
      ...shared,
      method: "PUT",
      ...v1("/datasets/:dataset_id/share"),
      permission: "runs:share",
      summary: "Share a dataset by a public link",
      query: z.object({ share_projects: queryFalse("share_projects") }),
      out: { 200: share },
      async handler({ params: { dataset_id }, principal, c }) {
        const share_token = await rows.ensureShare(sql, principal.workspaceId, dataset_id);
        if (share_token === undefined) throw notFound("Dataset not found");
        return c.json({ dataset_id, share_token });
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/datasets/:dataset_id/share"),
      permission: "datasets:read",
      summary: "Get whether a dataset is shared",
      out: { 200: share.nullable() },
      async handler({ params: { dataset_id }, principal, c }) {
        if (!(await findDatasetRow(sql, principal.workspaceId, dataset_id))) throw notFound("Dataset not found");
        const share_token = await rows.findShare(sql, principal.workspaceId, dataset_id);
        return c.json(share_token === undefined ? null : { dataset_id, share_token });
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1("/datasets/:dataset_id/share"),
      permission: "runs:share",
      summary: "Stop sharing a dataset; its link becomes invalid",
      out: { 204: null },
      async handler({ params: { dataset_id }, principal, c }) {
        if (!(await findDatasetRow(sql, principal.workspaceId, dataset_id))) throw notFound("Dataset not found");
        await rows.deleteShare(sql, principal.workspaceId, dataset_id);
        return c.body(null, 204);
      },
    }),
    route({
      ...byToken,
      method: "GET",
      ...v1("/public/:share_token/datasets"),
      summary: "Get the shared dataset",
      out: { 200: dataset },
      handler: async ({ params }) => rawJson((await found(params.share_token)).item),
    }),
    route({
      ...byToken,
      method: "GET",
      ...v1("/public/:share_token/datasets/sessions"),
      summary: "List experiments on the shared dataset, with their statistics",
      query: experimentsQuery,
      out: { 200: z.array(projectWithStats) },
      async handler({ params, query, c }) {
        const { tenant_id: tenantId, id } = await found(params.share_token);
        const search = { ...query, reference_dataset: [id], include_stats: true };
        const { items } = await listProjects(deps, RunScope.ofTenant(tenantId), search);
        return c.json(items);
      },
    }),
    route({
      ...byToken,
      method: "GET",
      ...v1("/public/:share_token/examples"),
      summary: "List examples of the shared dataset",
      query: examplesQuery,
      out: { 200: z.array(example) },
      errors: [400, 404],
      async handler({ params, query, c }) {
        const { tenant_id: tenantId, id } = await found(params.share_token);
        const search = { ...query, order: "recent", descending: undefined } as const;
        const wire = { links: deps.links, base: publicUrl(deps.settings, c) };
        return rawJson(serializeExamples(wire, await listExamples(sql, tenantId, buildFilter(id, query), search)));
      },
    }),
    route({
      ...byToken,
      method: "GET",
      ...v1("/public/:share_token/examples/count"),
      summary: "Count examples of the shared dataset",
      query: countQuery,
      out: { 200: z.int() },
      errors: [400, 404],
      async handler({ params, query, c }) {
        const { tenant_id: tenantId, id } = await found(params.share_token);
        return c.json(await countExamples(sql, tenantId, buildFilter(id, query)));
      },
    }),
  ];
}
