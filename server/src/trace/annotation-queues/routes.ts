import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { platform, v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { RunScope } from "../runs/run-scope.ts";
import { checkConfigs, checkDataset, createQueue } from "./create-queue.ts";
import { reviewerIdentity } from "./reviewer.ts";
import { assignReviewer, unassignReviewer } from "./reviewer-sql.ts";
import { settleItems } from "./review-sql.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const shared = { tag: "Annotation queues" } as const;
const params = schema.queueParams;
const NOT_FOUND = "Annotation queue not found";

/** Routes of annotation queues and their reviewers. */
export function annotationQueueRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const read = async (tenantId: string, id: string): Promise<Response> => {
    const item = await rows.findQueue(sql, tenantId, id);
    if (item === undefined) throw notFound(NOT_FOUND);
    return rawJson(item);
  };

  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/annotation-queues"),
      permission: "annotation-queues:read",
      summary: "List annotation queues",
      query: schema.listQuery,
      out: { 200: z.array(schema.queueWithSize) },
      async handler({ query, principal }) {
        const reviewer = query.assigned_to_me ? await reviewerIdentity(sql, principal) : undefined;
        return rawJson(await rows.listQueues(sql, principal.workspaceId, query, reviewer));
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/annotation-queues"),
      permission: "annotation-queues:create",
      summary: "Create an annotation queue",
      auditFields: ["name"],
      body: schema.createBody,
      out: { 200: schema.queue },
      errors: [404, 409],
      async handler({ body, principal }) {
        const id = await createQueue(deps, RunScope.of(principal), body);
        return read(principal.workspaceId, id);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1("/annotation-queues"),
      permission: "annotation-queues:delete",
      summary: "Delete annotation queues; the runs and their feedback stay",
      query: schema.deleteManyQuery,
      out: { 200: schema.deletedMany, 207: schema.deletedMany },
      async handler({ query, principal, c }) {
        const deleted = await rows.deleteQueues(sql, principal.workspaceId, query.queue_ids);
        const failed = query.queue_ids.filter((id) => !deleted.includes(id)).map((id) => ({ id, error: NOT_FOUND }));
        return c.json({ deleted, failed }, failed.length > 0 ? 207 : 200);
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/annotation-queues/:queue_id"),
      permission: "annotation-queues:read",
      summary: "Get an annotation queue with its rubric",
      params,
      out: { 200: schema.queue },
      handler: ({ params, principal }) => read(principal.workspaceId, params.queue_id),
    }),
    route({
      ...shared,
      method: "PATCH",
      ...v1("/annotation-queues/:queue_id"),
      permission: "annotation-queues:update",
      summary: "Update an annotation queue",
      params,
      body: schema.patchBody,
      out: { 200: schema.queue },
      async handler({ params, body, principal }) {
        const tenantId = principal.workspaceId;
        await checkDataset(deps, tenantId, body.default_dataset);
        await checkConfigs(deps, tenantId, body.rubric_items);
        await sql.begin(async (tx) => {
          if (!(await rows.updateQueue(tx, tenantId, params.queue_id, body))) throw notFound(NOT_FOUND);
          if (body.num_reviewers_per_item !== undefined) await settleItems(tx, tenantId, params.queue_id);
        });
        return read(tenantId, params.queue_id);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1("/annotation-queues/:queue_id"),
      permission: "annotation-queues:delete",
      summary: "Delete an annotation queue; the runs and their feedback stay",
      params,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params, principal, c }) {
        const deleted = await rows.deleteQueues(sql, principal.workspaceId, [params.queue_id]);
        if (deleted.length === 0) throw notFound(NOT_FOUND);
        return c.json({ message: "Annotation queue deleted" });
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/annotation-queues/:run_id/queues"),
      permission: "annotation-queues:read",
      summary: "List the annotation queues that contain a run",
      params: schema.queuesOfRunParams,
      out: { 200: z.array(schema.queue) },
      async handler({ params, principal }) {
        const items = await rows.listQueuesOfRun(sql, principal.workspaceId, params.run_id);
        if (items !== "[]") return rawJson(items);
        const [key] = await findRunKeys(deps.clickhouse, principal.workspaceId, [params.run_id]);
        if (!key || key.deleted) throw notFound("Run not found");
        return rawJson(items);
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...platform("/annotation-queues/:queue_id/reviewers"),
      permission: "annotation-queues:update",
      summary: "Assign a member of the workspace to an annotation queue",
      auditFields: ["identity_id"],
      params,
      body: schema.reviewerBody,
      out: { 201: schema.reviewerBody },
      async handler({ params, body, principal, c }) {
        const { workspaceId } = principal;
        if (!(await assignReviewer(sql, workspaceId, params.queue_id, body.identity_id))) {
          throw notFound("Annotation queue or member not found");
        }
        await settleItems(sql, workspaceId, params.queue_id);
        return c.json({ identity_id: body.identity_id }, 201);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...platform("/annotation-queues/:queue_id/reviewers/:identity_id"),
      permission: "annotation-queues:update",
      summary: "Remove a reviewer from an annotation queue; completed reviews stay",
      params: schema.reviewerParams,
      out: { 204: null },
      async handler({ params, principal, c }) {
        const { workspaceId } = principal;
        if (!(await unassignReviewer(sql, workspaceId, params.queue_id, params.identity_id))) throw notFound(NOT_FOUND);
        await settleItems(sql, workspaceId, params.queue_id);
        return c.body(null, 204);
      },
    }),
  ];
}
