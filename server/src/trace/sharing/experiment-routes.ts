import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { queryMany, uuid } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { findSharedDataset } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { listed, listQuery } from "../experiments/comparative-schema.ts";
import { listComparisons } from "../experiments/comparative-sql.ts";
import { deltaBatchBody, deltaBody, feedbackDeltas as deltasAnswer } from "../experiments/delta-schema.ts";
import { feedbackDeltas, streamDeltas } from "../experiments/feedback-deltas.ts";
import { listProjects } from "../projects/list-projects.ts";
import { projectWithStats } from "../projects/schema.ts";
import { RunScope } from "../runs/run-scope.ts";

const byToken = {
  tag: "Sharing",
  permission: "public",
  publicBecause: "the random token in the path is the credential",
  params: z.object({ share_token: uuid }),
} as const;

const publicComparison = listed.omit({ tenant_id: true, reference_dataset_id: true });
/** Experiments per shared dataset. */
const MAX_EXPERIMENTS = 100;

/** Routes of the experiments of shared datasets: their names, statistics and differences, not their runs. */
export function experimentShareRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const found = async (token: string) => {
    const row = await findSharedDataset(sql, token);
    if (!row) throw notFound("Shared dataset not found");
    return row;
  };
  return [
    route({
      ...byToken,
      method: "POST",
      ...v1("/public/:share_token/datasets/runs/delta"),
      summary: "List the shared dataset's examples whose score is better or worse than in a baseline experiment",
      body: deltaBody.omit({ filters: true }),
      out: { 200: deltasAnswer },
      async handler({ params, body: { feedback_key: key, ...query }, c }) {
        const { tenant_id: tenantId, id } = await found(params.share_token);
        const deltas = await feedbackDeltas(deps, tenantId, id, query, [key]);
        return c.json({ feedback_deltas: deltas.get(key)! });
      },
    }),
    route({
      ...byToken,
      method: "POST",
      ...v1("/public/:share_token/datasets/runs/delta/stream"),
      summary: "Stream the shared dataset's examples whose scores are better or worse, key by key",
      body: deltaBatchBody.omit({ filters: true }),
      out: { 200: "text/event-stream" },
      async handler({ params, body }) {
        const { tenant_id: tenantId, id } = await found(params.share_token);
        return streamDeltas(deps, tenantId, id, body);
      },
    }),
    route({
      ...byToken,
      method: "GET",
      ...v1("/public/:share_token/datasets/comparative"),
      summary: "List the comparisons of the shared dataset's experiments",
      query: listQuery.omit({ id: true }),
      out: { 200: z.array(publicComparison) },
      async handler({ params, query, c }) {
        const { tenant_id: tenantId, id } = await found(params.share_token);
        const items = JSON.parse(await listComparisons(sql, tenantId, id, query)) as z.output<typeof listed>[];
        return c.json(items.map(({ tenant_id: _tenant, reference_dataset_id: _dataset, ...item }) => item));
      },
    }),
    route({
      ...byToken,
      params: undefined,
      method: "GET",
      ...v1("/public/datasets/sessions-bulk"),
      summary: "List the experiments on several shared datasets",
      publicBecause: "the random tokens in the query are the credentials",
      query: z.object({ share_tokens: queryMany(uuid, 20) }),
      out: { 200: z.array(projectWithStats) },
      async handler({ query, c }) {
        const lists = await Promise.all(
          [...new Set(query.share_tokens)].map(async (token) => {
            const { tenant_id: tenantId, id } = await found(token);
            const search = { reference_dataset: [id], include_stats: true, limit: MAX_EXPERIMENTS, offset: 0 };
            return (await listProjects(deps, RunScope.ofTenant(tenantId), search)).items;
          }),
        );
        return c.json(lists.flat());
      },
    }),
  ];
}
