import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { jsonObject } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import * as rows from "./config-sql.ts";
import * as schema from "./schema.ts";
import { configToWire } from "./serialize.ts";

const shared = { tag: "Insights" } as const;
const BASE = "/sessions/:session_id/insights/configs";
const NOT_FOUND = "Insights config not found";

/** Routes of saved settings of insights. They come before those of jobs, whose ids would match `configs`. */
export function insightConfigRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      ...shared,
      ...v1(BASE),
      method: "GET",
      permission: "runs:read",
      summary: "List a project's insights configs",
      params: schema.sessionParams,
      query: schema.configsQuery,
      out: { 200: schema.configs },
      async handler({ params, principal, c }) {
        await checkProjects(deps, RunScope.of(principal), [params.session_id]);
        const found = await rows.listConfigs(sql, principal.workspaceId, params.session_id);
        return c.json({ configs: found.map(configToWire) });
      },
    }),
    route({
      ...shared,
      ...v1(BASE),
      method: "POST",
      permission: "projects:update",
      summary: "Save settings of insights jobs",
      auditFields: ["name"],
      params: schema.sessionParams,
      body: schema.configBody,
      out: { 200: schema.config },
      async handler({ params, body, principal, c }) {
        await checkProjects(deps, RunScope.of(principal), [params.session_id]);
        const { name, description = null, config } = body;
        const row = { id: uuid7(), name, description, config };
        const created = await rows.insertConfig(sql, principal.workspaceId, params.session_id, row);
        if (!created) throw unprocessable(`A project can have at most ${rows.MAX_CONFIGS} insights configs.`);
        return c.json(configToWire(created));
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/generate`),
      method: "POST",
      permission: "projects:update",
      summary: "Not supported: settings are not generated",
      audit: "none",
      params: schema.sessionParams,
      body: jsonObject,
      out: { 200: schema.config },
      handler() {
        throw unprocessable(
          "Heddle does not generate settings of insights: the number and the names of clusters follow from the runs. " +
            "Describe the project in user_context of POST /api/v1/sessions/{session_id}/insights.",
        );
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:config_id`),
      method: "PATCH",
      permission: "projects:update",
      summary: "Change saved settings of insights jobs",
      auditFields: ["name"],
      params: schema.configParams,
      body: schema.configPatch,
      out: { 200: schema.config },
      async handler({ params, body, principal, c }) {
        const change = { id: params.config_id, name: body.name, description: body.description, config: body.config };
        const row = await rows.updateConfig(sql, principal.workspaceId, params.session_id, change);
        if (!row) throw notFound(NOT_FOUND);
        return c.json(configToWire(row));
      },
    }),
    route({
      ...shared,
      ...v1(`${BASE}/:config_id`),
      method: "DELETE",
      permission: "projects:update",
      summary: "Delete saved settings; the jobs stay",
      params: schema.configParams,
      out: { 200: z.object({ id: z.guid(), message: z.string() }) },
      async handler({ params, principal, c }) {
        const { session_id, config_id: id } = params;
        if (!(await rows.deleteConfig(sql, principal.workspaceId, session_id, id))) throw notFound(NOT_FOUND);
        return c.json({ id, message: "Insights config deleted" });
      },
    }),
  ];
}
