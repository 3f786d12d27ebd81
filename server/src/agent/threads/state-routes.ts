import { z } from "zod";

import type { FairQueue } from "../../base/fair-queue.ts";
import { notFound } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import { agentRoute, type AgentRoute, onThread } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { readHistory, readState } from "./read-state.ts";
import { patchBody, thread, threadParams } from "./schema.ts";
import { patchThread } from "./sql.ts";
import * as schema from "./state-schema.ts";
import { updateState } from "./update-state.ts";

const shared = { tag: "Threads", params: threadParams } as const;

/** @param updates limits concurrent state updates */
export function threadStateRoutes(deps: AgentDeps, updates: FairQueue): AgentRoute[] {
  return [
    agentRoute({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id/state",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "Get a thread's current state",
      query: schema.stateQuery,
      out: { 200: schema.threadState.partial() },
      handler: async ({ params, query }) => rawJson(await readState(deps, params.thread_id, query)),
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id/state/:checkpoint_id",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "Get a thread's state at a checkpoint",
      params: schema.checkpointParams,
      query: schema.stateQuery,
      out: { 200: schema.threadState.partial() },
      async handler({ params: { thread_id, checkpoint_id }, query }) {
        return rawJson(await readState(deps, thread_id, { ...query, checkpoint: { checkpoint_id } }));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/:thread_id/state/checkpoint",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "Get the state of a thread or of a subgraph at a checkpoint",
      body: schema.checkpointBody,
      out: { 200: schema.threadState.partial() },
      async handler({ params, body }) {
        return rawJson(await readState(deps, params.thread_id, { ...body, subgraphs: body.subgraphs ?? false }));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/:thread_id/state",
      permission: "threads:write",
      audit: "data",
      auth: onThread("threads:update"),
      summary: "Update a thread's state by hand",
      body: schema.updateBody,
      out: { 200: schema.updatedState },
      errors: [409],
      async handler({ params, body }) {
        return rawJson(await updates.run(() => updateState(deps, params.thread_id, body)));
      },
    }),
    agentRoute({
      ...shared,
      method: "PATCH",
      path: "/threads/:thread_id/state",
      permission: "threads:write",
      audit: "data",
      auth: onThread("threads:update", { fields: ["metadata"] }),
      summary: "Merge into a thread's metadata, like PATCH of the thread",
      body: patchBody,
      out: { 200: thread },
      async handler({ params, body }) {
        const wire = await patchThread(deps.sql, params.thread_id, body.metadata ?? {});
        if (wire === undefined) throw notFound(`Thread with ID ${params.thread_id} not found`);
        return rawJson(wire);
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/threads/:thread_id/history",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "List a thread's states, newest first",
      query: schema.historyQuery,
      out: { 200: z.array(schema.threadState) },
      async handler({ params, query: { limit, before } }) {
        const read = { limit, ...(before && { before: { checkpoint_id: before } }) };
        return rawJson(await readHistory(deps, params.thread_id, read));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/threads/:thread_id/history",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "Search a thread's states, newest first",
      body: schema.historyBody,
      out: { 200: z.array(schema.threadState) },
      async handler({ params, body }) {
        const { limit, before, metadata, checkpoint } = body;
        return rawJson(await readHistory(deps, params.thread_id, { limit, before, filter: metadata, checkpoint }));
      },
    }),
  ];
}
