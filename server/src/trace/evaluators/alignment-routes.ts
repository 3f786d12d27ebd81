import { platform } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { compareWithPeople } from "./compare-with-people.ts";
import { createAlignmentQueue } from "./create-alignment-queue.ts";
import { loadEvaluator } from "./load-evaluator.ts";
import { evaluatorNotFound } from "./save-evaluator.ts";
import * as schema from "./wire-schema.ts";

const tag = "Evaluators";

/** Routes of the agreement between evaluators and people. */
export function evaluatorAlignmentRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag,
      method: "GET",
      ...platform("/evaluators/:evaluator_id/alignment"),
      permission: "evaluators:read",
      summary: "Compare an evaluator's judgements with people's, by version, and list the disagreements",
      params: schema.params,
      query: schema.alignmentQuery,
      out: { 200: schema.aligned },
      async handler({ params, query, principal, c }) {
        const { evaluator_id: id } = params;
        if (!(await loadEvaluator(deps, principal.workspaceId, id))) throw evaluatorNotFound();
        return c.json(await compareWithPeople(deps, principal, id, query));
      },
    }),
    route({
      tag,
      method: "POST",
      ...platform("/evaluators/:evaluator_id/alignment-queue"),
      permission: "annotation-queues:create",
      summary: "Create the queue in which people label what an evaluator judged, with its newest judged runs",
      params: schema.params,
      body: schema.alignmentQueueBody,
      out: { 200: schema.alignmentQueue },
      handler: async ({ params, body, principal, c }) =>
        c.json(await createAlignmentQueue(deps, principal, params.evaluator_id, body)),
    }),
  ];
}
