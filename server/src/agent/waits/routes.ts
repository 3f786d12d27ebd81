import { conflict, notFound } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { agentRoute, type AgentRoute, onThread } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import * as schema from "./schema.ts";
import { addSignal, selectWaits } from "./sql.ts";

/** Signals of a thread that no run has taken. */
const LIMIT = 1000;

const unknownThread = (id: string) => notFound(`Thread with ID ${id} not found`);

/** Heddle's own: events from outside that resume a waiting thread (docs/retries.md). */
export function waitRoutes(deps: AgentDeps): AgentRoute[] {
  return [
    agentRoute({
      tag: "Threads",
      method: "POST",
      path: "/threads/:thread_id/signals/:name",
      permission: "runs:create",
      audit: "data",
      auth: onThread("threads:update", { params: ["thread_id", "name"] }),
      summary: "Send a signal to a thread: it resumes the run that waits for it, now or later",
      params: schema.signalParams,
      headers: schema.keyHeader,
      body: schema.signalBody,
      out: { 200: schema.sentSignal },
      errors: [404, 409],
      async handler({ params: { thread_id: threadId, name }, body, c }) {
        const key = body.key ?? c.req.header("idempotency-key") ?? uuid7();
        const payload = JSON.stringify(body.payload ?? null);
        const outcome = await addSignal(deps.sql, { threadId, name, key, payload, limit: LIMIT });
        if (outcome === "no_thread") throw unknownThread(threadId);
        if (outcome === "full") throw conflict(`Thread ${threadId} has ${LIMIT} signals that nothing has waited for.`);
        if (outcome === "created") deps.waits.wake();
        return c.json({ name, key, created: outcome === "created" });
      },
    }),
    agentRoute({
      tag: "Threads",
      method: "GET",
      path: "/threads/:thread_id/signals",
      permission: "threads:read",
      auth: onThread("threads:read"),
      summary: "List what a thread waits for, and its signals",
      params: schema.threadParams,
      out: { 200: schema.waits },
      async handler({ params }) {
        const wire = await selectWaits(deps.sql, params.thread_id);
        if (wire === undefined) throw unknownThread(params.thread_id);
        return rawJson(wire);
      },
    }),
  ];
}
