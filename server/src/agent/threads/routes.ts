import { z } from "zod";

import { FairQueue } from "../../base/fair-queue.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { paginationHeaders } from "../../base/http/pagination.ts";
import { rawJson } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { agentRoute, type AgentRoute, onSearch, onThread } from "../custom-auth/agent-route.ts";
import { permittedThreads } from "../custom-auth/permitted-threads.ts";
import type { AgentDeps } from "../deps.ts";
import { createThread } from "./create-thread.ts";
import { deleteThread } from "./delete-thread.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";
import { threadStateRoutes } from "./state-routes.ts";
import { measureStorage } from "./storage-sql.ts";

const shared = { tag: "Threads" } as const;
/** Fields of a search that auth handlers see. */
const SEARCH_FIELDS = ["metadata", "values", "status", "ids", "limit", "offset"];

export const unknownThread = (id: string) => notFound(`Thread with ID ${id} not found`);

export function threadRoutes(deps: AgentDeps): AgentRoute[] {
  const { sql } = deps;
  // each update holds a connection while user code may run, which may itself need one for the store
  const updates = new FairQueue({ capacity: Math.max(1, Math.floor(deps.settings.databasePool / 2)) });
  return [
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads",
      permission: "threads:write",
      audit: "data",
      auth: { ...onSearch("threads:create", ["thread_id", "metadata", "if_exists"]), newId: "thread_id" },
      summary: "Create a thread",
      body: schema.createBody,
      out: { 200: schema.thread },
      errors: [404, 409],
      handler: async ({ body, principal }) => rawJson(await createThread(deps, updates, body, principal.sees)),
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/search",
      permission: "threads:read",
      auth: onSearch("threads:search", SEARCH_FIELDS),
      summary: "Search threads",
      body: schema.searchBody,
      out: { 200: z.array(schema.thread.partial()) },
      async handler({ body, principal }) {
        const page = await rows.searchThreads(sql, body, principal.sees);
        return rawJson(page.items, paginationHeaders(page.total, body.offset, body.limit));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/count",
      permission: "threads:read",
      auth: onSearch("threads:search", SEARCH_FIELDS),
      summary: "Count threads",
      body: schema.countBody,
      out: { 200: z.int() },
      handler: async ({ body, c, principal }) => c.json(await rows.countThreads(sql, body, principal.sees)),
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/prune",
      permission: "threads:write",
      audit: "data",
      auth: "handler",
      summary: "Delete threads, or all but their latest checkpoint",
      body: schema.pruneBody,
      out: { 200: z.object({ pruned_count: z.int() }) },
      async handler({ body, c, principal }) {
        const event = body.strategy === "keep_latest" ? "threads:update" : "threads:delete";
        const ids = await permittedThreads(deps, principal, event, body.thread_ids);
        if (body.strategy === "keep_latest") return c.json({ pruned_count: await rows.pruneThreads(sql, ids) });
        let pruned = 0;
        for (const id of new Set(ids)) if (await deleteThread(deps, id)) pruned += 1;
        return c.json({ pruned_count: pruned });
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "Get a thread",
      params: schema.threadParams,
      query: schema.getQuery,
      out: { 200: schema.thread },
      async handler({ params, query }) {
        const wire = await rows.findThread(sql, params.thread_id, query.include.includes("ttl"));
        if (wire === undefined) throw unknownThread(params.thread_id);
        return rawJson(wire);
      },
    }),
    agentRoute({
      ...shared,
      method: "PATCH",
      path: "/threads/:thread_id",
      permission: "threads:write",
      audit: "data",
      auth: onThread("threads:update", { fields: ["metadata"] }),
      summary: "Merge into a thread's metadata, or set its time to live",
      params: schema.threadParams,
      body: schema.patchBody,
      out: { 200: schema.thread, 204: null },
      async handler({ params, body, c }) {
        const wire = await rows.patchThread(sql, params.thread_id, body.metadata ?? {}, body.ttl);
        if (wire === undefined) throw notFound("Thread not found");
        if (/\breturn=minimal\b/.test(c.req.header("prefer") ?? "")) return c.body(null, 204);
        return rawJson(wire);
      },
    }),
    agentRoute({
      ...shared,
      method: "DELETE",
      path: "/threads/:thread_id",
      permission: "threads:write",
      audit: "data",
      auth: onThread("threads:delete"),
      summary: "Delete a thread; its runs are cancelled first",
      params: schema.threadParams,
      out: { 204: null },
      async handler({ params, c }) {
        if (!(await deleteThread(deps, params.thread_id))) throw unknownThread(params.thread_id);
        return c.body(null, 204);
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/:thread_id/copy",
      permission: "threads:write",
      audit: "data",
      // the route's handler asks about the copy's own metadata
      auth: onThread("threads:read", { hidden: "conflict" }),
      summary: "Copy a thread with its history",
      params: schema.threadParams,
      out: { 200: schema.thread },
      errors: [409],
      async handler({ params, principal }) {
        const id = uuid7();
        const authValue = { thread_id: id, metadata: {} };
        await deps.access.ask(principal, "threads:create", authValue);
        const copy = await rows.copyThread(sql, params.thread_id, id);
        if (copy === undefined) throw conflict("Thread not found");
        const isMarked = Object.keys(authValue.metadata).length > 0;
        return rawJson((isMarked ? await rows.patchThread(sql, id, authValue.metadata) : undefined) ?? copy);
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id/storage",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "Get the number of rows and bytes of a thread",
      params: schema.threadParams,
      out: { 200: schema.storage },
      async handler({ params }) {
        const wire = await measureStorage(sql, params.thread_id);
        if (wire === undefined) throw unknownThread(params.thread_id);
        return rawJson(wire);
      },
    }),
    ...threadStateRoutes(deps, updates),
  ];
}
