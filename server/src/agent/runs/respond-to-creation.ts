/** Responds to requests that create a run: with the run, with its output, or with the stream of it. */
import type { Context } from "hono";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import type { AgentDeps } from "../deps.ts";
import { readOnce } from "../idempotency/idempotent-request.ts";
import { type AcceptedRun, createRun } from "./create-run.ts";
import { acceptedStream, joinRun, joinStream, streamResponse, waitResponse } from "./read-run.ts";
import type { RunBody } from "./schema.ts";
import { rejectSelfWait } from "./self-wait.ts";

/** The caller and its request. */
export interface Caller {
  c: Context;
  principal: Principal;
}

/** 409: Idempotency-Key or resume; 410: Idempotency-Key; 429: a full queue; 502: feedback links. */
export const CREATE_ERRORS = [404, 409, 429, 502, 503] as const;
export const READ_ERRORS = [...CREATE_ERRORS, 410] as const;

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

export async function accept(
  deps: AgentDeps,
  threadId: string | null,
  body: RunBody,
  { c, principal }: Caller,
  how: "create" | "stream" | "wait",
  once = readOnce(c.req.raw.headers, principal, `${how} ${threadId}`, body),
): Promise<AcceptedRun> {
  const { headers } = c.req.raw;
  const strategy = body.multitask_strategy ?? deps.settings.multitaskStrategy;
  if (how !== "create" && strategy === "enqueue") await rejectSelfWait(deps.sql, c, threadId);
  return createRun(deps, { threadId, body, headers, principal, describe: how === "create", once });
}

/**
 * Headers with the run's location, for clients that need it before the first byte of the body, and for reconnects.
 */
export function locations(
  run: AcceptedRun,
  threadId: string | null,
  suffix?: "stream" | "join",
): Record<string, string> {
  const path = threadId === null ? `/runs/${run.runId}` : `/threads/${threadId}/runs/${run.runId}`;
  return {
    "Content-Location": path,
    ...(suffix && { Location: `${path}/${suffix}` }),
    ...(run.replayed && { "Idempotent-Replayed": "true" }),
    ...discardedHeader(run.run),
  };
}

export function cancelOnLeave(
  deps: AgentDeps,
  threadId: string,
  runId: string,
  isEnabled: boolean,
): (() => void) | undefined {
  if (!isEnabled) return undefined;
  return () =>
    void deps.queue
      .cancel(threadId, runId, "interrupt", "the client disconnected")
      .catch((error: unknown) => deps.log.warn({ err: error, run_id: runId }, "could not cancel a run"));
}

export async function createStream(
  deps: AgentDeps,
  threadId: string | null,
  body: RunBody,
  caller: Caller,
  namespaces: string[] | undefined,
): Promise<Response> {
  const run = await accept(deps, threadId, body, caller, "stream");
  const options = {
    headers: locations(run, threadId, body.stream_resumable ? "stream" : undefined),
    onDisconnect: cancelOnLeave(deps, run.threadId, run.runId, body.on_disconnect === "cancel"),
    namespaces,
  };
  if (run.replayed) return readAgain(joinStream(deps, threadId, run.runId, options));
  return streamResponse(acceptedStream(deps, run), options);
}

export async function createAndWait(
  deps: AgentDeps,
  threadId: string | null,
  body: RunBody,
  caller: Caller,
): Promise<Response> {
  const run = await accept(deps, threadId, body, caller, "wait");
  const headers = locations(run, threadId, threadId !== null ? "join" : undefined);
  const onDisconnect = cancelOnLeave(deps, run.threadId, run.runId, body.on_disconnect === "cancel");
  if (!run.replayed) return waitResponse(acceptedStream(deps, run), { headers, onDisconnect });
  const response = await readAgain(joinRun(deps, threadId, run.runId, onDisconnect));
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
