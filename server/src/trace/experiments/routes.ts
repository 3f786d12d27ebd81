import type { Context } from "hono";
import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import { v1, v2 } from "../../base/http/aliases.ts";
import { queryNotBuilt } from "../../base/http/fields.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { publicUrl } from "../public-url.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { planV1 } from "../runs/serialize-v1.ts";
import { planV2 } from "../runs/serialize-v2.ts";
import { RunScope } from "../runs/run-scope.ts";
import { serializeExample } from "../examples/serialize-example.ts";
import { type ExampleWithRuns, experimentRuns, RUN_FIELDS } from "./experiment-runs.ts";
import * as schema from "./schema.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";

const shared = { tag: "Datasets", method: "POST", permission: "datasets:read", params: datasetParams } as const;

/** Routes of experiments side by side: examples with the runs created from them. */
export function experimentRoutes(deps: TraceDeps): Route[] {
  const begin = async (principal: Principal, datasetId: string, c: Context) => {
    if (!(await findDatasetRow(deps.sql, principal.workspaceId, datasetId))) throw notFound("Dataset not found");
    const scope = RunScope.of(principal);
    return { scope, context: serializationContext(deps.settings, scope, c) };
  };
  const serializeItems = (found: ExampleWithRuns[], c: Context): string => {
    const wire = { links: deps.links, base: publicUrl(deps.settings, c) };
    const items = found.map(
      ({ example, runs }) => `${serializeExample(wire, example).slice(0, -1)},"runs":[${runs.join(",")}]}`,
    );
    return `[${items.join(",")}]`;
  };

  return [
    route({
      ...shared,
      ...v1("/datasets/:dataset_id/runs"),
      summary: "List examples with their runs in experiments and the feedback on these runs",
      query: z.object({ format: queryNotBuilt("format") }),
      body: schema.experimentRunsBody,
      out: { 200: z.array(schema.exampleWithRuns) },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        const { scope, context } = await begin(principal, id, c);
        const texts = body.preview ? ["inputs_preview", "outputs_preview"] : ["inputs", "outputs"];
        const plan = planV1([...RUN_FIELDS, ...texts]);
        const { sort_params: order, ...rest } = body;
        const sort = order ? { by: order.sort_by, descending: order.sort_order === "DESC" } : undefined;
        const query = { ...rest, sort, experiments: body.session_ids, examples: body.example_ids };
        const feedback = { comparison: body.comparative_experiment_id };
        return rawJson(serializeItems(await experimentRuns(deps, scope, id, query, { plan, context }, feedback), c));
      },
    }),
    route({
      ...shared,
      errorFamily: "problem",
      ...v2("/datasets/:dataset_id/experiment-runs"),
      summary: "List examples with selected properties of their runs in experiments",
      body: schema.experimentRunsBodyV2,
      out: { 200: schema.experimentRunsPage },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        const { scope, context } = await begin(principal, id, c);
        const { experiment_ids: experiments, example_ids: examples, filters, page_size: limit } = body;
        const offset = Number(body.cursor ?? 0);
        const sort = body.sort ? { by: body.sort.by, descending: body.sort.order === "DESC" } : undefined;
        const query = { experiments, examples, filters, sort, limit, offset };
        const found = await experimentRuns(deps, scope, id, query, { plan: planV2(body.selects), context });
        const next = found.length === limit ? `,"next_cursor":"${offset + limit}"` : "";
        return rawJson(`{"items":${serializeItems(found, c)}${next}}`);
      },
    }),
  ];
}
