import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import { judgeBody, judgeJob } from "./judge-schema.ts";
import * as queue from "./judge-sql.ts";
import { loadReview } from "./review-pairs.ts";
import { comparisonParams } from "./schema.ts";
import { findComparison } from "./sql.ts";

const shared = { tag: "Datasets", params: comparisonParams } as const;
const path = "/datasets/comparative/:comparative_experiment_id/judges";

/** Heddle's own routes of evaluators that judge pairs in the background. */
export function pairwiseJudgeRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const check = async (tenantId: string, id: string) => {
    if (!(await findComparison(sql, tenantId, id))) throw notFound("Comparison not found");
  };
  return [
    route({
      ...shared,
      method: "POST",
      ...v1(path),
      permission: "models:call",
      summary: "Let an evaluator judge all pairs of a comparison, in the background",
      body: judgeBody,
      out: { 202: judgeJob },
      auditFields: ["evaluator_id"],
      async handler({ params: { comparative_experiment_id: id }, body, principal, c }) {
        const tenantId = principal.workspaceId;
        const { pairs } = await loadReview(deps, tenantId, id);
        const evaluator = await loadEvaluator(deps, tenantId, body.evaluator_id, body.version ?? undefined);
        if (!evaluator) throw notFound("Evaluator not found");
        if (evaluator.definition.subject !== "pair") {
          throw unprocessable(`evaluator_id: "${evaluator.name}" does not judge pairs.`);
        }
        const job = {
          tenant_id: tenantId,
          job_id: uuid7(),
          comparative_experiment_id: id,
          evaluator_id: evaluator.id,
          evaluator_version: evaluator.version,
        };
        const created = await queue.insertJob(sql, job, pairs.size);
        deps.pairwiseJudges.wake();
        return c.json(created, 202);
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1(path),
      permission: "datasets:read",
      summary: "List the judges of a comparison with their progress",
      out: { 200: z.array(judgeJob) },
      async handler({ params: { comparative_experiment_id: id }, principal, c }) {
        await check(principal.workspaceId, id);
        return c.json(await queue.listJobs(sql, principal.workspaceId, id));
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1(path),
      permission: "models:call",
      summary: "Cancel the judges of a comparison; their judgements stay",
      out: { 200: z.object({ cancelled: z.int() }) },
      async handler({ params: { comparative_experiment_id: id }, principal, c }) {
        await check(principal.workspaceId, id);
        return c.json({ cancelled: await queue.cancelJobs(sql, principal.workspaceId, id) });
      },
    }),
  ];
}
