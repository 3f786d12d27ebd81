import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { storableText, uuid } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { resolveAsOf } from "../datasets/resolve-version.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { listSplits } from "./sql.ts";
import { changeSplit } from "./write-examples.ts";

const shared = { tag: "Datasets", params: datasetParams } as const;

const splitsQuery = z.object({ as_of: z.string().min(1).optional() });

const splitBody = z.object({
  split_name: storableText.min(1),
  examples: z.array(uuid).min(1).max(10_000),
  remove: z.boolean().default(false),
});

/** Routes of a dataset's splits. */
export function splitRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/datasets/:dataset_id/splits"),
      permission: "datasets:read",
      summary: "List the splits of a dataset",
      query: splitsQuery,
      out: { 200: z.array(z.string()) },
      async handler({ params: { dataset_id: id }, query, principal, c }) {
        if (!(await findDatasetRow(sql, principal.workspaceId, id))) throw notFound("Dataset not found");
        const asOf = await resolveAsOf(sql, principal.workspaceId, id, query.as_of);
        return c.json(await listSplits(sql, principal.workspaceId, id, asOf));
      },
    }),
    route({
      ...shared,
      method: "PUT",
      ...v1("/datasets/:dataset_id/splits"),
      permission: "datasets:update",
      summary: "Add examples to a split, or remove them",
      body: splitBody,
      out: { 200: z.array(z.guid()) },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        return c.json(await changeSplit(sql, principal.workspaceId, id, body));
      },
    }),
  ];
}
