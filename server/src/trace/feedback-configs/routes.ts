import { z } from "zod";

import { AppError, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { normalizeConfig } from "./check-config.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Feedback";
const path = v1("/feedback-configs");

/** Routes of the configuration of feedback keys, which defines how to interpret scores. */
export function feedbackConfigRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      tag,
      method: "GET",
      ...path,
      permission: "feedback:read",
      summary: "List feedback configurations",
      query: schema.listConfigsQuery,
      out: { 200: z.array(schema.configRecord) },
      handler: async ({ query, principal }) => rawJson(await rows.listConfigs(sql, principal.workspaceId, query)),
    }),
    route({
      tag,
      method: "POST",
      ...path,
      permission: "feedback:create",
      summary:
        "Create a feedback configuration; returns an identical existing one, rejects a different one for the key",
      auditFields: ["feedback_key"],
      body: schema.createConfigBody,
      out: { 200: schema.configRecord },
      async handler({ body, principal }) {
        const { feedback_key: key, is_lower_score_better: isLowerBetter } = body;
        const config = normalizeConfig(body.feedback_config);
        const found = await rows.ensureConfig(sql, principal.workspaceId, key, config, isLowerBetter);
        if (!found.same) throw new AppError(400, `Feedback "${key}" already has another configuration.`);
        return rawJson(found.item);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...path,
      permission: "feedback:update",
      summary: "Update a feedback configuration",
      auditFields: ["feedback_key"],
      body: schema.updateConfigBody,
      out: { 200: schema.configRecord },
      errors: [404],
      async handler({ body, principal }) {
        const config = body.feedback_config && normalizeConfig(body.feedback_config);
        const item = await rows.updateConfig(sql, principal.workspaceId, { ...body, feedback_config: config });
        if (item === undefined) throw notFound(`Feedback "${body.feedback_key}" has no configuration.`);
        return rawJson(item);
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...path,
      permission: "feedback:delete",
      summary: "Delete a feedback configuration; the feedback stays",
      query: schema.deleteConfigQuery,
      out: { 204: null },
      errors: [404],
      async handler({ query, principal, c }) {
        const deleted = await rows.deleteConfig(sql, principal.workspaceId, query.feedback_key);
        if (!deleted) throw notFound(`Feedback "${query.feedback_key}" has no configuration.`);
        return c.body(null, 204);
      },
    }),
  ];
}
