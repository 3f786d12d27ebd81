import { z } from "zod";

import { AppError, conflict, notFound } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import { agentRoute, type AgentRoute, onThread } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { idempotencyHeader } from "../idempotency/idempotent-request.ts";
import { accept, CREATE_ERRORS, createAndWait, createStream, locations, READ_ERRORS } from "./respond-to-creation.ts";
import { cancelOne, cancelOnLeaving } from "./cancel-run.ts";
import { joinRun, joinStream } from "./read-run.ts";
import { refreshThreadHead } from "./refresh-thread.ts";
import {
  cancelQuery,
  joinQuery,
  joinStreamQuery,
  listQuery,
  runBody,
  runSchema,
  streamQuery,
  threadParams,
  threadRunParams,
} from "./schema.ts";
import { rejectSelfWait } from "./self-wait.ts";
import { deleteFinishedRun, selectRun, selectRuns, threadExists } from "./sql.ts";

/** Paths under a thread also answer under the singular `/thread/`. */
const singular = (path: string): string[] => [path.replace("/threads/", "/thread/")];

const base = { tag: "Runs" } as const;

export function runRoutes(deps: AgentDeps): AgentRoute[] {
  return [
    agentRoute({
      ...base,
      method: "POST",
      path: "/threads/:thread_id/runs/stream",
      permission: "runs:create",
      audit: "data",
      aliases: singular("/threads/:thread_id/runs/stream"),
      auth: "handler",
      summary: "Create a run on a thread and stream its output",
      params: threadParams,
      query: streamQuery,
      body: runBody,
      out: { 200: "text/event-stream" },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ params, query, body, c, principal }) =>
        createStream(deps, params.thread_id, body, { c, principal }, query.namespace),
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/threads/:thread_id/runs/wait",
      permission: "runs:create",
      audit: "data",
      aliases: singular("/threads/:thread_id/runs/wait"),
      auth: "handler",
      summary: "Create a run on a thread and wait for its output",
      params: threadParams,
      body: runBody,
      out: { 200: z.unknown() },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ params, body, c, principal }) => createAndWait(deps, params.thread_id, body, { c, principal }),
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/threads/:thread_id/runs",
      permission: "runs:create",
      audit: "data",
      aliases: singular("/threads/:thread_id/runs"),
      auth: "handler",
      summary: "Create a run on a thread in the background",
      params: threadParams,
      body: runBody,
      out: { 200: runSchema },
      headers: idempotencyHeader,
      errors: CREATE_ERRORS,
      async handler({ params, body, c, principal }) {
        const run = await accept(deps, params.thread_id, body, { c, principal }, "create");
        return rawJson(run.run!, locations(run, params.thread_id));
      },
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/threads/:thread_id/runs",
      permission: "runs:read",
      aliases: singular("/threads/:thread_id/runs"),
      auth: [onThread("threads:search", { fields: ["metadata", "status"] }), onThread("threads:read")],
      summary: "List the runs of a thread, newest first",
      params: threadParams,
      query: listQuery,
      out: { 200: z.array(runSchema.partial()) },
      async handler({ params, query }) {
        const runs = await selectRuns(deps.sql, params.thread_id, query);
        if (runs === "[]" && !(await threadExists(deps.sql, params.thread_id))) {
          throw notFound(`Thread with ID ${params.thread_id} not found`);
        }
        return rawJson(query.select === undefined ? runs : selectFields(runs, query.select));
      },
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id",
      permission: "runs:read",
      aliases: singular("/threads/:thread_id/runs/:run_id"),
      auth: onThread("threads:read", { hidden: "run" }),
      summary: "Get a run",
      params: threadRunParams,
      out: { 200: runSchema },
      async handler({ params }) {
        const run = await selectRun(deps.sql, params.thread_id, params.run_id);
        if (run === undefined) throw notFound("Run not found");
        return rawJson(run);
      },
    }),
    agentRoute({
      ...base,
      method: "DELETE",
      path: "/threads/:thread_id/runs/:run_id",
      permission: "runs:delete",
      audit: "data",
      aliases: singular("/threads/:thread_id/runs/:run_id"),
      auth: onThread("threads:delete", { params: ["thread_id", "run_id"], hidden: "run" }),
      summary: "Delete a finished run and its checkpoints",
      params: threadRunParams,
      out: { 204: null },
      errors: [409],
      async handler({ params, c }) {
        const outcome = await deleteFinishedRun(deps.sql, params.thread_id, params.run_id);
        if (outcome === "not_found") throw notFound("Run not found");
        if (outcome === "unfinished") throw conflict("Run is not finished: cancel it first.");
        await refreshThreadHead(deps.sql, deps.hosts, params.thread_id).catch((error: unknown) => {
          if (!(error instanceof AppError)) throw error;
        });
        return c.body(null, 204);
      },
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/threads/:thread_id/runs/:run_id/cancel",
      permission: "runs:create",
      audit: "data",
      aliases: singular("/threads/:thread_id/runs/:run_id/cancel"),
      auth: "handler",
      summary: "Cancel a run: interrupt keeps what it wrote, rollback deletes it",
      params: threadRunParams,
      query: cancelQuery,
      out: { 202: null, 204: null },
      errors: [409],
      async handler({ params, query, c, principal }) {
        await cancelOne(deps, principal, { threadId: params.thread_id, runId: params.run_id, ...query });
        return c.body(null, query.wait ? 204 : 202);
      },
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id/join",
      permission: "runs:read",
      aliases: singular("/threads/:thread_id/runs/:run_id/join"),
      auth: onThread("threads:read", { hidden: "run" }),
      summary: "Wait for the output of a run",
      params: threadRunParams,
      query: joinQuery,
      out: { 200: z.unknown() },
      errors: [409],
      async handler({ params, query, c, principal }) {
        await rejectSelfWait(deps.sql, c, params.thread_id, params.run_id);
        return joinRun(
          deps,
          params.thread_id,
          params.run_id,
          await cancelOnLeaving(deps, principal, params.thread_id, params.run_id, query.cancel_on_disconnect),
        );
      },
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/threads/:thread_id/runs/:run_id/stream",
      permission: "runs:read",
      aliases: singular("/threads/:thread_id/runs/:run_id/stream"),
      auth: onThread("threads:read", { hidden: "frame" }),
      summary: "Join the stream of a run",
      params: threadRunParams,
      query: joinStreamQuery,
      out: { 200: "text/event-stream" },
      errors: [409],
      async handler({ params, query, c, principal }) {
        await rejectSelfWait(deps.sql, c, params.thread_id, params.run_id);
        return joinStream(deps, params.thread_id, params.run_id, {
          lastEventId: c.req.header("last-event-id"),
          modes: query.stream_mode,
          namespaces: query.namespace,
          checkpointId: query.checkpoint_id,
          onDisconnect: await cancelOnLeaving(
            deps,
            principal,
            params.thread_id,
            params.run_id,
            query.cancel_on_disconnect,
          ),
        });
      },
    }),
  ];
}

function selectFields(runs: string, fields: string[]): string {
  const rows = JSON.parse(runs) as Record<string, unknown>[];
  return JSON.stringify(rows.map((row) => Object.fromEntries(fields.filter((f) => f in row).map((f) => [f, row[f]]))));
}
