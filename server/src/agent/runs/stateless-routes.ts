/** Runs without a thread: each has a temporary one, which is deleted with it. */
import { z } from "zod";

import { rawJson } from "../../base/http/route.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { idempotencyHeader, readOnce } from "../idempotency/idempotent-request.ts";
import { accept, CREATE_ERRORS, createAndWait, createStream, locations, READ_ERRORS } from "./respond-to-creation.ts";
import { cancelMany, cancelOnLeaving } from "./cancel-run.ts";
import { type AcceptedRun, checkBatch } from "./create-run.ts";
import { joinRun, joinStream } from "./read-run.ts";
import { rejectSelfWait } from "./self-wait.ts";
import {
  cancelManyBody,
  cancelQuery,
  joinQuery,
  joinStreamQuery,
  runBatchBody,
  runBody,
  runParams,
  runSchema,
  streamQuery,
} from "./schema.ts";

const base = { tag: "Runs" } as const;

export function statelessRunRoutes(deps: AgentDeps): AgentRoute[] {
  return [
    agentRoute({
      ...base,
      method: "POST",
      path: "/runs/batch",
      permission: "runs:create",
      audit: "data",
      auth: "handler",
      summary: "Create several stateless runs",
      body: runBatchBody,
      out: { 200: z.array(runSchema) },
      headers: idempotencyHeader,
      errors: CREATE_ERRORS,
      async handler({ body, c, principal }) {
        const once = readOnce(c.req.raw.headers, principal, "batch", body);
        await checkBatch(deps, body, principal);
        const runs: AcceptedRun[] = [];
        for (const [part, run] of body.entries()) {
          runs.push(await accept(deps, null, run, { c, principal }, "create", once && { ...once, part }));
        }
        const headers: Record<string, string> = {};
        if (runs.every((run) => run.replayed)) headers["Idempotent-Replayed"] = "true";
        return rawJson(`[${runs.map(({ run }) => run).join(",")}]`, headers);
      },
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/runs/cancel",
      permission: "runs:create",
      audit: "data",
      auth: "handler",
      summary: "Cancel runs by status, or several runs of a thread",
      query: cancelQuery.pick({ action: true }),
      body: cancelManyBody,
      out: { 204: null },
      errors: [404],
      async handler({ body, query, c, principal }) {
        await cancelMany(deps, principal, body, query.action);
        return c.body(null, 204);
      },
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/runs/stream",
      permission: "runs:create",
      audit: "data",
      auth: "handler",
      summary: "Create a stateless run and stream its output",
      query: streamQuery,
      body: runBody,
      out: { 200: "text/event-stream" },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ query, body, c, principal }) => createStream(deps, null, body, { c, principal }, query.namespace),
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/runs/wait",
      permission: "runs:create",
      audit: "data",
      auth: "handler",
      summary: "Create a stateless run and wait for its output",
      body: runBody,
      out: { 200: z.unknown() },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ body, c, principal }) => createAndWait(deps, null, body, { c, principal }),
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/runs",
      permission: "runs:create",
      audit: "data",
      auth: "handler",
      summary: "Create a stateless run in the background",
      body: runBody,
      out: { 200: runSchema },
      headers: idempotencyHeader,
      errors: CREATE_ERRORS,
      async handler({ body, c, principal }) {
        const run = await accept(deps, null, body, { c, principal }, "create");
        return rawJson(run.run!, locations(run, null));
      },
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/runs/:run_id/stream",
      permission: "runs:read",
      auth: { event: "threads:read", subject: "run", hidden: "frame" },
      summary: "Join the stream of a stateless run",
      params: runParams,
      query: joinStreamQuery,
      out: { 200: "text/event-stream" },
      errors: [409],
      async handler({ params, query, c, principal }) {
        await rejectSelfWait(deps.sql, c, null, params.run_id);
        return joinStream(deps, null, params.run_id, {
          headers: { "Content-Location": `/runs/${params.run_id}` },
          lastEventId: c.req.header("last-event-id"),
          modes: query.stream_mode,
          namespaces: query.namespace,
          checkpointId: query.checkpoint_id,
          onDisconnect: await cancelOnLeaving(deps, principal, null, params.run_id, query.cancel_on_disconnect),
        });
      },
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/runs/:run_id/join",
      permission: "runs:read",
      auth: { event: "threads:read", subject: "run", hidden: "run" },
      summary: "Wait for the output of a stateless run",
      params: runParams,
      query: joinQuery,
      out: { 200: z.unknown() },
      errors: [409],
      async handler({ params, query, c, principal }) {
        await rejectSelfWait(deps.sql, c, null, params.run_id);
        const onDisconnect = await cancelOnLeaving(deps, principal, null, params.run_id, query.cancel_on_disconnect);
        return joinRun(deps, null, params.run_id, onDisconnect);
      },
    }),
  ];
}
