import { z } from "zod";

import { paginationHeaders } from "../../base/http/pagination.ts";
import { rawJson } from "../../base/http/route.ts";
import { resolveAssistantId } from "../project/assistant-id.ts";
import { agentRoute, type AgentRoute, onCron, onSearch } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { createCron, patchCron, unknownCron } from "./create-cron.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";
import { triggerCron } from "./trigger-cron.ts";

const shared = { tag: "Crons" } as const;

/** Crons, as the Agent Server API of LangGraph has them. */
export function cronRoutes(deps: AgentDeps): AgentRoute[] {
  const { sql } = deps;

  /** Resolves the filter's assistant. An unknown assistant matches no cron. */
  const resolved = <T extends schema.CronFilter>(filter: T): T => {
    if (typeof filter.assistant_id !== "string") return filter;
    return { ...filter, assistant_id: resolveAssistantId(deps.project, filter.assistant_id) ?? NIL_UUID };
  };

  return [
    agentRoute({
      ...shared,
      method: "POST",
      path: "/runs/crons",
      permission: "crons:write",
      auditFields: ["schedule"],
      auth: "handler",
      summary: "Create a cron whose runs each get their own thread",
      body: schema.createBody,
      out: { 200: schema.cron },
      errors: [404],
      handler: async ({ body, c, principal }) =>
        rawJson(await createCron(deps, null, body, { headers: c.req.raw.headers, principal })),
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/:thread_id/runs/crons",
      aliases: ["/thread/:thread_id/runs/crons"],
      permission: "crons:write",
      auditFields: ["schedule"],
      auth: "handler",
      summary: "Create a cron whose runs use one thread",
      params: schema.threadParams,
      body: schema.createBody,
      out: { 200: schema.cron },
      handler: async ({ params, body, c, principal }) =>
        rawJson(await createCron(deps, params.thread_id, body, { headers: c.req.raw.headers, principal })),
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/runs/crons/search",
      permission: "crons:read",
      auth: onSearch("crons:search", ["assistant_id", "thread_id", "metadata", "limit", "offset"]),
      summary: "Search crons",
      body: schema.searchBody,
      out: { 200: z.array(schema.cron.extend({ now: z.string() }).partial()) },
      async handler({ body, principal }) {
        const page = await rows.searchCrons(sql, resolved(body), principal.sees ?? []);
        return rawJson(page.items, paginationHeaders(page.total, body.offset, body.limit));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/runs/crons/count",
      permission: "crons:read",
      auth: onSearch("crons:search", ["assistant_id", "thread_id", "metadata"]),
      summary: "Count crons",
      body: schema.countBody,
      out: { 200: z.int() },
      handler: async ({ body, c, principal }) =>
        c.json(await rows.countCrons(sql, resolved(body), principal.sees ?? [])),
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/runs/crons/:cron_id",
      permission: "crons:read",
      auth: onCron("crons:read"),
      summary: "Get a cron",
      params: schema.cronParams,
      out: { 200: schema.cron },
      async handler({ params }) {
        const cron = await rows.findCron(sql, params.cron_id);
        if (cron === undefined) throw unknownCron(params.cron_id);
        return rawJson(cron);
      },
    }),
    agentRoute({
      ...shared,
      method: "PATCH",
      path: "/runs/crons/:cron_id",
      permission: "crons:write",
      auditFields: ["schedule", "enabled"],
      auth: onCron("crons:update", ["schedule", "metadata", "end_time", "timezone", "enabled", "assistant_id"]),
      summary: "Update a cron",
      params: schema.cronParams,
      body: schema.patchBody,
      out: { 200: schema.cron },
      handler: async ({ params, body, c, principal }) =>
        rawJson(await patchCron(deps, params.cron_id, body, { headers: c.req.raw.headers, principal })),
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/runs/crons/:cron_id/trigger",
      permission: "crons:write",
      auth: onCron("crons:update"),
      summary: "Start a run of a cron now, beside its schedule",
      params: schema.cronParams,
      out: { 200: schema.triggered },
      errors: [409],
      handler: async ({ params, c }) => c.json(await triggerCron(deps, params.cron_id)),
    }),
    agentRoute({
      ...shared,
      method: "DELETE",
      path: "/runs/crons/:cron_id",
      permission: "crons:write",
      auth: onCron("crons:delete"),
      summary: "Delete a cron; runs that it has created continue",
      params: schema.cronParams,
      out: { 204: null },
      async handler({ params, c }) {
        if (!(await rows.deleteCron(sql, params.cron_id))) throw unknownCron(params.cron_id);
        return c.body(null, 204);
      },
    }),
  ];
}

/** An id that no assistant has. */
const NIL_UUID = "00000000-0000-0000-0000-000000000000";
