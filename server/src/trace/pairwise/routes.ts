import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { insertComparison } from "../experiments/comparative-sql.ts";
import { findExperimentRows } from "../experiments/scores-sql.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { RunScope } from "../runs/run-scope.ts";
import { judgePair, listPairs, loadReview, toReview, undoJudgement } from "./review-pairs.ts";
import * as schema from "./schema.ts";
import { findComparison, readPreferences } from "./sql.ts";
import { summarizePreferences } from "./summarize-preferences.ts";

const tag = "Datasets";
const params = schema.comparisonParams;

/** Heddle's own routes of pairwise reviews by people. */
export function pairwiseRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      tag,
      method: "POST",
      ...v1("/datasets/comparative/reviews"),
      permission: "datasets:create",
      summary: "Start a review of two experiments pair by pair",
      body: schema.createBody,
      out: { 200: schema.review },
      errors: [404],
      auditFields: ["name"],
      async handler({ body, principal, c }) {
        const tenantId = principal.workspaceId;
        const rows = await findExperimentRows(sql, tenantId, body.experiment_ids);
        if (rows.length < 2) throw notFound("Experiment not found");
        const dataset = rows[0]!.dataset;
        if (dataset === null || rows[1]!.dataset !== dataset) {
          throw unprocessable("experiment_ids: both experiments must have run on the same dataset.");
        }
        const names = body.experiment_ids.map((id) => rows.find((row) => row.id === id)!.name);
        const id = uuid7();
        await insertComparison(sql, tenantId, {
          id,
          reference_dataset_id: dataset,
          experiment_ids: body.experiment_ids,
          name: body.name ?? names.join(" vs. ").slice(0, 2000),
          description: null,
          extra: { heddle: { key: body.key, instructions: body.instructions ?? null } },
          created_at: new Date().toISOString(),
        });
        return c.json(toReview((await findComparison(sql, tenantId, id))!));
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/comparative/:comparative_experiment_id/pairs"),
      permission: "datasets:read",
      summary: "List pairs of a comparison with their outputs, and the caller's judgements",
      query: schema.pairsQuery,
      out: { 200: schema.pairs },
      async handler({ params: { comparative_experiment_id: id }, query, principal, c }) {
        const context = serializationContext(deps.settings, RunScope.of(principal), c);
        return c.json((await listPairs(deps, principal, id, query, context)) as never);
      },
    }),
    route({
      tag,
      params: schema.pairParams,
      method: "PUT",
      ...v1("/datasets/comparative/:comparative_experiment_id/pairs/:example_id"),
      permission: "feedback:create",
      audit: "data",
      summary: "Judge a pair; judging again replaces the judgement",
      body: schema.judgementBody,
      out: { 204: null },
      async handler({ params: { comparative_experiment_id: id, example_id }, body, principal, c }) {
        await judgePair(deps, principal, id, example_id, body);
        return c.body(null, 204);
      },
    }),
    route({
      tag,
      params: schema.pairParams,
      method: "DELETE",
      ...v1("/datasets/comparative/:comparative_experiment_id/pairs/:example_id"),
      permission: "feedback:create",
      audit: "data",
      summary: "Take back the caller's judgement on a pair",
      out: { 204: null },
      async handler({ params: { comparative_experiment_id: id, example_id }, principal, c }) {
        await undoJudgement(deps, principal, id, example_id);
        return c.body(null, 204);
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/comparative/:comparative_experiment_id/results"),
      permission: "datasets:read",
      summary: "Get how many pairs were judged and the rate of wins with its interval, by key and reviewer",
      out: { 200: schema.results },
      async handler({ params: { comparative_experiment_id: id }, principal, c }) {
        const tenantId = principal.workspaceId;
        const { review, pairs } = await loadReview(deps, tenantId, id);
        const places = new Map<string, { example: string; side: 0 | 1 }>();
        for (const [example, [first, second]] of pairs) {
          places.set(first, { example, side: 0 });
          places.set(second, { example, side: 1 });
        }
        const rows = await findExperimentRows(sql, tenantId, review.experiment_ids);
        const experiments = review.experiment_ids.map((each) => {
          const row = rows.find((candidate) => candidate.id === each);
          return { id: each, name: row?.name ?? each };
        });
        const keys = summarizePreferences(await readPreferences(sql, tenantId, id), places);
        return c.json({ review, experiments, pairs: pairs.size, keys });
      },
    }),
  ];
}
