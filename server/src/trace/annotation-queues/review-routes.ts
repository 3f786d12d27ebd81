import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { RunScope } from "../runs/run-scope.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import * as schema from "./item-schema.ts";
import { countSections } from "./item-sql.ts";
import { measureAgreement } from "./measure-agreement.ts";
import { changeStatus, claimNext } from "./review-item.ts";
import { reviewBody, reviewed } from "./review-schema.ts";
import { reviewerIdentity } from "./reviewer.ts";
import { countReviews, listJudgements } from "./review-sql.ts";
import { queueParams } from "./schema.ts";
import { serializeItem } from "./serialize-items.ts";
import { findQueue } from "./sql.ts";
import { submitReview } from "./submit-review.ts";

const shared = { tag: "Annotation queues" } as const;
/** Judgements read to measure agreement; further ones are left out. */
const MAX_JUDGEMENTS = 200_000;

/** Routes of reviewers at work: reservations, statuses, progress and agreement. */
export function annotationReviewRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const checkQueue = async (tenantId: string, id: string): Promise<void> => {
    if ((await findQueue(sql, tenantId, id)) === undefined) throw notFound("Annotation queue not found");
  };

  return [
    route({
      ...shared,
      method: "POST",
      ...v1("/annotation-queues/status/:annotation_queue_run_id"),
      permission: "annotation-queues:update",
      audit: "data",
      summary: "Set the caller's status of a run in an annotation queue: viewed reserves it, completed counts",
      params: schema.statusParams,
      body: schema.statusBody,
      out: { 200: schema.nothing },
      errors: [403, 404, 409],
      async handler({ params, body, principal, c }) {
        const me = await reviewerIdentity(sql, principal);
        await changeStatus(sql, principal.workspaceId, me, params.annotation_queue_run_id, body);
        return c.json({});
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/runs/:queue_run_id/review"),
      permission: "annotation-queues:update",
      audit: "data",
      summary: "Submit the caller's review: its feedback, a correction as an example, and the status, all or nothing",
      params: schema.itemParams,
      body: reviewBody,
      out: { 200: reviewed },
      errors: [403, 404, 409],
      async handler({ params: { queue_id, queue_run_id }, body, principal, c }) {
        const id = await reviewerIdentity(sql, principal);
        const reviewer = { tenantId: principal.workspaceId, id, userId: principal.actor.userId };
        return c.json(await submitReview(deps, reviewer, queue_id, queue_run_id, body));
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/next"),
      permission: "annotation-queues:update",
      audit: "data",
      summary: "Reserve the next run that needs the caller's review; 204 when there is none",
      params: queueParams,
      out: { 200: schema.runInQueue, 204: null },
      errors: [403, 404],
      async handler({ params, principal, c }) {
        const me = await reviewerIdentity(sql, principal);
        const item = await claimNext(sql, principal.workspaceId, me, params.queue_id);
        if (!item) return c.body(null, 204);
        const scope = RunScope.of(principal);
        return rawJson(await serializeItem(deps, scope, serializationContext(deps.settings, scope, c), item));
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/annotation-queues/:queue_id/progress"),
      permission: "annotation-queues:read",
      summary: "Count the runs of an annotation queue by section, and the reviews by reviewer",
      params: queueParams,
      out: { 200: schema.progress },
      async handler({ params, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const identity_id = await reviewerIdentity(sql, principal);
        const [counts, reviewers] = await Promise.all([
          countSections(sql, principal.workspaceId, identity_id, params.queue_id),
          countReviews(sql, principal.workspaceId, params.queue_id),
        ]);
        return c.json({ ...counts, identity_id, reviewers });
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/annotation-queues/:queue_id/agreement"),
      permission: "annotation-queues:read",
      summary: "Measure the agreement between reviewers, by feedback key",
      params: queueParams,
      out: { 200: schema.agreement },
      async handler({ params, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const judgements = await listJudgements(sql, principal.workspaceId, params.queue_id, MAX_JUDGEMENTS);
        return c.json({
          keys: measureAgreement(judgements),
          is_truncated: judgements.length === MAX_JUDGEMENTS,
        });
      },
    }),
  ];
}
