import type { Context } from "hono";

import { AppError, notFound } from "../../base/errors.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { rawJson } from "../../base/http/route.ts";
import { acceptWebSocket } from "../../base/http/websocket.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { idempotencyHeader, readOnce } from "../idempotency/idempotent-request.ts";
import { rejectSelfWait } from "../runs/self-wait.ts";
import { Caller } from "./caller.ts";
import { eventStream } from "./event-stream.ts";
import { handleCommand } from "./handle-command.ts";
import { command, commandAnswer, eventStreamBody, threadParams } from "./schema.ts";
import { ProtocolSocket } from "./protocol-socket.ts";

/** Streaming protocol v2 of LangGraph. */
export function protocolRoutes(deps: AgentDeps): AgentRoute[] {
  /**
   * Responds with 404 for another user's thread, with 409 to the thread's own run. A thread that does not exist yet can
   * be waited for.
   */
  async function authorizeReader(c: Context, threadId: string, principal: Principal): Promise<Caller> {
    const caller = await Caller.of(deps, threadId, principal, c);
    if (!(await caller.maySee())) throw notFound(`Thread with ID ${threadId} not found`);
    await rejectSelfWait(deps.sql, c, threadId);
    return caller;
  }
  const base = { tag: "Streaming protocol v2", params: threadParams, permission: "runs:read" } as const;
  return [
    agentRoute({
      ...base,
      method: "POST",
      path: "/threads/:thread_id/commands",
      audit: "data",
      auditFields: ["method"],
      auth: "handler",
      summary: "Send a command: start a run, answer an interrupt, read the state",
      headers: idempotencyHeader,
      body: command,
      out: { 200: commandAnswer },
      async handler({ params, body, principal, c }) {
        const { headers } = c.req.raw;
        const caller = await Caller.of(deps, params.thread_id, principal, c);
        const { method, params: commandParams } = body;
        caller.once = readOnce(headers, principal, `${method} ${params.thread_id}`, commandParams ?? {});
        return rawJson(JSON.stringify(await handleCommand(deps, caller, body)));
      },
    }),
    agentRoute({
      ...base,
      method: "POST",
      path: "/threads/:thread_id/stream/events",
      audit: "none",
      auth: "handler",
      summary: "Stream the events of all runs of a thread",
      body: eventStreamBody,
      out: { 200: "text/event-stream" },
      errors: [400, 409],
      handler: async ({ params, body, principal, c }) =>
        eventStream(deps.protocol, {
          caller: await authorizeReader(c, params.thread_id, principal),
          filter: {
            channels: body.channels,
            namespaces: body.namespaces ?? undefined,
            depth: body.depth ?? undefined,
          },
          since: body.since ?? lastEvent(c.req.header("last-event-id")),
        }),
    }),
    agentRoute({
      ...base,
      method: "GET",
      path: "/threads/:thread_id/stream/events",
      auth: "handler",
      summary: "Exchange commands and events over one WebSocket",
      out: { 101: null },
      errors: [400, 409, 426],
      async handler({ params, principal, c }) {
        const caller = await authorizeReader(c, params.thread_id, principal);
        const accepted = acceptWebSocket(c, (socket, intake) =>
          new ProtocolSocket(deps, caller, socket, intake).start(),
        );
        if (accepted) return accepted;
        throw new AppError(426, "This is a WebSocket endpoint; for server-sent events, POST to it.", {
          headers: { Upgrade: "websocket" },
        });
      },
    }),
  ];
}

/** Position from `Last-Event-ID`, the header by which generic SSE clients resume. */
function lastEvent(id: string | undefined): number {
  const seq = Number(id ?? 0);
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new AppError(400, `Last-Event-ID must be the sequence number of an event, not "${id}".`);
}
