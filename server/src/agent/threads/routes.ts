import { z } from "zod";

import { ConcurrencyLimit } from "../../base/concurrency-limit.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { paginationHeaders } from "../../base/http/pagination.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { permittedThreads } from "../custom-auth/permitted-threads.ts";
import type { AgentDeps } from "../deps.ts";
import { createThread } from "./create-thread.ts";
import { deleteThread } from "./delete-thread.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";
import { threadStateRoutes } from "./state-routes.ts";
import { measureStorage } from "./storage-sql.ts";

const shared = { tag: "Threads" } as const;

export const unknownThread = (id: string) => notFound(`Thread with ID ${id} not found`);

export function threadRoutes(deps: AgentDeps): Route[] {
  const { sql } = deps;
  // each update holds a connection while user code may run, which may itself need one for the store
  const updates = new ConcurrencyLimit(Math.max(1, Math.floor(deps.settings.databasePool / 2)));
  return [
    route({
      ...shared,
      method: "POST",
      path: "/threads",
      permission: "threads:write",
      audit: "data",
      summary: "Create a thread",
      body: schema.createBody,
      out: { 200: schema.thread },
      errors: [404, 409],
      handler: async ({ body, principal }) => rawJson(await createThread(deps, updates, body, principal.sees)),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/threads/search",
      permission: "threads:read",
      summary: "Search threads",
      body: schema.searchBody,
      out: { 200: z.array(schema.thread.partial()) },
      async handler({ body, principal }) {
        const page = await rows.searchThreads(sql, body, principal.sees);
        return rawJson(page.items, paginationHeaders(page.total, body.offset, body.limit));
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/threads/count",
      permission: "threads:read",
      summary: "Count threads",
      body: schema.countBody,
      out: { 200: z.int() },
      handler: async ({ body, c, principal }) => c.json(await rows.countThreads(sql, body, principal.sees)),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/threads/prune",
      permission: "threads:write",
      audit: "data",
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
    route({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id",
      permission: "threads:read",
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
    route({
      ...shared,
      method: "PATCH",
      path: "/threads/:thread_id",
      permission: "threads:write",
      audit: "data",
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
    route({
      ...shared,
      method: "DELETE",
      path: "/threads/:thread_id",
      permission: "threads:write",
      audit: "data",
      summary: "Delete a thread; its runs are cancelled first",
      params: schema.threadParams,
      out: { 204: null },
      async handler({ params, c }) {
        if (!(await deleteThread(deps, params.thread_id))) throw unknownThread(params.thread_id);
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/threads/:thread_id/copy",
      permission: "threads:write",
      audit: "data",
      summary: "Copy a thread with its history",
      params: schema.threadParams,
      out: { 200: schema.thread },
      errors: [409],
      async handler({ params, principal }) {
        const id = uuid7();
        const asked = { thread_id: id, metadata: {} };
        await deps.access.ask(principal, "threads:create", asked);
        const copy = await rows.copyThread(sql, params.thread_id, id);
        if (copy === undefined) throw conflict("Thread not found");
        const isMarked = Object.keys(asked.metadata).length > 0;
        return rawJson((isMarked ? await rows.patchThread(sql, id, asked.metadata) : undefined) ?? copy);
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id/storage",
      permission: "threads:read",
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
