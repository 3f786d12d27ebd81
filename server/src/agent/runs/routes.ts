import type { Context } from "hono";
import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError, conflict, notFound } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import { agentRoute, type AgentRoute, onThread } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { idempotencyHeader, readOnce } from "../idempotency/idempotent-request.ts";
import { cancelMany, cancelOne } from "./cancel-run.ts";
import { type AcceptedRun, checkBatch, createRun } from "./create-run.ts";
import { acceptedStream, joinRun, joinStream, streamResponse, waitResponse } from "./read-run.ts";
import { refreshThreadHead } from "./refresh-thread.ts";
import {
  cancelManyBody,
  cancelQuery,
  joinQuery,
  joinStreamQuery,
  listQuery,
  runBatchBody,
  type RunBody,
  runBody,
  runParams,
  runSchema,
  streamQuery,
  threadParams,
  threadRunParams,
} from "./schema.ts";
import { deleteFinishedRun, selectRun, selectRuns, threadExists } from "./sql.ts";

const SSE = "text/event-stream";

/** The caller and its request. */
interface Caller {
  c: Context;
  principal: Principal;
}

const anyJson = z.unknown();

/** 409: Idempotency-Key or resume; 410: Idempotency-Key; 502: feedback links. */
const CREATE_ERRORS = [404, 409, 502, 503] as const;
const READ_ERRORS = [...CREATE_ERRORS, 410] as const;

/**
 * Reads the result of a replayed request, or responds with 410. Stateless runs are deleted when they end; their results are
 * kept for a few minutes.
 */
async function readAgain(response: Promise<Response>): Promise<Response> {
  return response.catch((error: unknown) => {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
    throw new AppError(410, "The run of this Idempotency-Key has ended, and its output is no longer stored.");
  });
}

/** Header that lists the pending interrupts which the caller's new input discards. */
function discardedHeader(run: string | null): Record<string, string> {
  if (!run?.includes('"discarded_interrupts"')) return {};
  const { discarded_interrupts: ids } = JSON.parse(run) as { discarded_interrupts?: string[] | null };
  return ids ? { "X-Discarded-Interrupts": ids.join(",") } : {};
}

/** Paths under a thread also answer under the singular `/thread/` (service-interface §4.2). */
const singular = (path: string): string[] => [path.replace("/threads/", "/thread/")];

export function runRoutes(deps: AgentDeps): AgentRoute[] {
  const base = { tag: "Runs" } as const;

  async function accept(
    threadId: string | null,
    body: RunBody,
    { c, principal }: Caller,
    how: "create" | "stream" | "wait",
    once = readOnce(c.req.raw.headers, principal, `${how} ${threadId}`, body),
  ): Promise<AcceptedRun> {
    const { headers } = c.req.raw;
    return createRun(deps, { threadId, body, headers, principal, describe: how === "create", once });
  }

  /**
   * Headers with the run's location, for clients that need it before the first byte of the body, and for reconnects.
   */
  function locations(run: AcceptedRun, threadId: string | null, suffix?: "stream" | "join"): Record<string, string> {
    const path = threadId === null ? `/runs/${run.runId}` : `/threads/${threadId}/runs/${run.runId}`;
    return {
      "Content-Location": path,
      ...(suffix && { Location: `${path}/${suffix}` }),
      ...(run.replayed && { "Idempotent-Replayed": "true" }),
      ...discardedHeader(run.run),
    };
  }

  function cancelOnLeave(threadId: string, runId: string, isEnabled: boolean): (() => void) | undefined {
    if (!isEnabled) return undefined;
    return () =>
      void deps.queue
        .cancel(threadId, runId, "interrupt", "the client disconnected")
        .catch((error: unknown) => deps.log.warn({ err: error, run_id: runId }, "could not cancel a run"));
  }

  async function stream(
    threadId: string | null,
    body: RunBody,
    caller: Caller,
    namespaces: string[] | undefined,
  ): Promise<Response> {
    const run = await accept(threadId, body, caller, "stream");
    const options = {
      headers: locations(run, threadId, body.stream_resumable ? "stream" : undefined),
      onDisconnect: cancelOnLeave(run.threadId, run.runId, body.on_disconnect === "cancel"),
      namespaces,
    };
    if (run.replayed) return readAgain(joinStream(deps, threadId, run.runId, options));
    return streamResponse(acceptedStream(deps, run), options);
  }

  async function wait(threadId: string | null, body: RunBody, caller: Caller): Promise<Response> {
    const run = await accept(threadId, body, caller, "wait");
    const headers = locations(run, threadId, threadId !== null ? "join" : undefined);
    const onDisconnect = cancelOnLeave(run.threadId, run.runId, body.on_disconnect === "cancel");
    if (!run.replayed) return waitResponse(acceptedStream(deps, run), { headers, onDisconnect });
    const response = await readAgain(joinRun(deps, threadId, run.runId, onDisconnect));
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  }

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
          runs.push(await accept(null, run, { c, principal }, "create", once && { ...once, part }));
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
      out: { 200: SSE },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ query, body, c, principal }) => stream(null, body, { c, principal }, query.namespace),
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
      out: { 200: anyJson },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ body, c, principal }) => wait(null, body, { c, principal }),
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
        const run = await accept(null, body, { c, principal }, "create");
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
      out: { 200: SSE },
      handler: ({ params, query, c }) =>
        joinStream(deps, null, params.run_id, {
          headers: { "Content-Location": `/runs/${params.run_id}` },
          lastEventId: c.req.header("last-event-id"),
          modes: query.stream_mode,
          namespaces: query.namespace,
          checkpointId: query.checkpoint_id,
        }),
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/runs/:run_id/join",
      permission: "runs:read",
      auth: { event: "threads:read", subject: "run", hidden: "run" },
      summary: "Wait for the output of a stateless run",
      params: runParams,
      out: { 200: anyJson },
      handler: ({ params }) => joinRun(deps, null, params.run_id),
    }),
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
      out: { 200: SSE },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ params, query, body, c, principal }) =>
        stream(params.thread_id, body, { c, principal }, query.namespace),
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
      out: { 200: anyJson },
      headers: idempotencyHeader,
      errors: READ_ERRORS,
      handler: ({ params, body, c, principal }) => wait(params.thread_id, body, { c, principal }),
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
        const run = await accept(params.thread_id, body, { c, principal }, "create");
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
      out: { 200: anyJson },
      handler: ({ params, query }) =>
        joinRun(
          deps,
          params.thread_id,
          params.run_id,
          cancelOnLeave(params.thread_id, params.run_id, query.cancel_on_disconnect),
        ),
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
      out: { 200: SSE },
      handler: ({ params, query, c }) =>
        joinStream(deps, params.thread_id, params.run_id, {
          lastEventId: c.req.header("last-event-id"),
          modes: query.stream_mode,
          namespaces: query.namespace,
          checkpointId: query.checkpoint_id,
          onDisconnect: cancelOnLeave(params.thread_id, params.run_id, query.cancel_on_disconnect),
        }),
    }),
  ];
}

function selectFields(runs: string, fields: string[]): string {
  const rows = JSON.parse(runs) as Record<string, unknown>[];
  return JSON.stringify(rows.map((row) => Object.fromEntries(fields.filter((f) => f in row).map((f) => [f, row[f]]))));
}
