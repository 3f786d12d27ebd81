import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { checkConfig, normalizeConfig } from "../feedback-configs/check-config.ts";
import { ensureConfig } from "../feedback-configs/sql.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { createFeedback } from "./create-feedback.ts";
import * as schema from "./schema.ts";
import { rejectHeldFeedback } from "../legal-holds/check-holds.ts";
import * as rows from "./sql.ts";

const shared = { tag: "Feedback", params: schema.feedbackParams } as const;

const created = v1("/feedback");
/** Endpoint for clients that bypass the hosted service's queue; there is no queue here. */
const eager = v1("/feedback/eager");

export function feedbackRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const read = async (tenantId: string, id: string, userNames?: boolean): Promise<Response> => {
    const [item] = await rows.findFeedbacks(sql, [{ tenantId, id }], userNames);
    if (item === undefined) throw notFound("Feedback not found");
    return rawJson(item);
  };
  // callers who create feedback at the same time share the statement that reads it back
  const readBack = new GroupCommit((keys: { tenantId: string; id: string }[]) => rows.findFeedbacks(sql, keys), {
    max: 500,
  });

  return [
    route({
      ...shared,
      params: undefined,
      method: "POST",
      path: created.path,
      aliases: [...created.aliases, eager.path, ...eager.aliases],
      permission: "feedback:create",
      audit: "data",
      summary: "Create feedback on a run or a project; the run may arrive later",
      body: schema.createBody,
      out: { 200: schema.feedback },
      errors: [404, 409],
      async handler({ body, principal }) {
        const author = { tenantId: principal.workspaceId, userId: principal.actor.userId };
        const [id] = await createFeedback(deps, author, [body]);
        const item = await readBack.call({ tenantId: author.tenantId, id: id! });
        if (item === undefined) throw notFound("Feedback not found");
        return rawJson(item);
      },
    }),
    route({
      ...shared,
      params: undefined,
      method: "GET",
      ...v1("/feedback"),
      permission: "feedback:read",
      summary: "List feedback, newest first",
      query: schema.listQuery,
      out: { 200: z.array(schema.feedback) },
      handler: async ({ query, principal }) =>
        rawJson(await rows.listFeedback(sql, principal.workspaceId, query, query)),
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/feedback/:feedback_id"),
      permission: "feedback:read",
      summary: "Get feedback",
      query: schema.readQuery,
      out: { 200: schema.feedback },
      handler: ({ params, query, principal }) =>
        read(principal.workspaceId, params.feedback_id, query.include_user_names),
    }),
    route({
      ...shared,
      method: "PATCH",
      ...v1("/feedback/:feedback_id"),
      permission: "feedback:update",
      summary: "Update feedback",
      body: schema.patchBody,
      out: { 200: schema.feedback },
      async handler({ params, body, principal }) {
        const tenantId = principal.workspaceId;
        const key = await rows.findFeedbackKey(sql, tenantId, params.feedback_id);
        if (key === undefined) throw notFound("Feedback not found");
        if (body.feedback_config) {
          const config = normalizeConfig(body.feedback_config);
          checkConfig(config, { key, score: body.score ?? null, value: body.value ?? null });
          await ensureConfig(sql, tenantId, key, config);
        }
        await rows.updateFeedback(sql, tenantId, params.feedback_id, body);
        if (body.correction !== undefined) deps.corrections.wake();
        await deps.feedback.flush();
        return read(tenantId, params.feedback_id);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1("/feedback/:feedback_id"),
      permission: "feedback:delete",
      summary: "Delete feedback",
      errors: [409],
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params, principal, c }) {
        const tenantId = principal.workspaceId;
        const deleted = await deps.deletions.transaction(
          tenantId,
          (tx) => rejectHeldFeedback(tx, tenantId, params.feedback_id),
          (tx) => rows.deleteFeedback(tx, tenantId, params.feedback_id),
        );
        if (!deleted) throw notFound("Feedback not found");
        await deps.feedback.flush();
        return c.json({ message: "Feedback deleted" });
      },
    }),
  ];
}
