/** Readers of a run: those that wait for its result, and those that follow its frames. */
import { Readable } from "node:stream";

import { request as httpRequest } from "undici";

import { SSE_HEADERS, sseBody, sseFrame } from "../../base/events/sse.ts";
import { notFound } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import type { AgentDeps } from "../deps.ts";
import { selectServerUrl } from "../servers/sql.ts";
import { answerOf } from "./answer.ts";
import type { RunOutcome, RunStream } from "./run-streams.ts";
import { type RunState, selectRunState } from "./sql.ts";

const isFinal = (state: RunState): boolean => state.status !== "pending" && state.status !== "running";

/** The stream of a run that this server has just accepted. */
export function acceptedStream(deps: AgentDeps, runId: string): RunStream {
  if (deps.queue.has(runId)) return deps.streams.open(runId);
  // it may have ended in the meantime, then its stream is still here
  return deps.streams.get(runId)?.outcome ? deps.streams.open(runId) : deps.follower.follow(runId);
}

export interface WaitOptions {
  headers?: Record<string, string>;
  onDisconnect?: (() => void) | undefined;
}

/** A fast run is answered in one piece; a slow one with a line feed a second before the JSON (contract §7.5). */
export async function waitResponse(stream: RunStream, options: WaitOptions): Promise<Response> {
  const soon = stream.outcome ?? (await within(stream.done.promise, 900));
  if (soon) return rawJson(soon.answer, options.headers);
  let timer: NodeJS.Timeout;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const newline = new Uint8Array([10]);
      controller.enqueue(newline);
      timer = setInterval(() => {
        // nobody takes them: the client hangs, and does not need more of them
        if ((controller.desiredSize ?? 0) > -1000) controller.enqueue(newline);
      }, 1000);
      void stream.done.promise.then((outcome) => {
        clearInterval(timer);
        try {
          controller.enqueue(Buffer.from(outcome.answer));
          controller.close();
        } catch {
          // the client has gone
        }
      });
    },
    cancel() {
      clearInterval(timer);
      if (!stream.outcome) options.onDisconnect?.();
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/json", ...options.headers } });
}

async function within(done: Promise<RunOutcome>, ms: number): Promise<RunOutcome | undefined> {
  let timer: NodeJS.Timeout;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/** `join`: the result of a run, now or when it ends. 404 for a run that is not there. */
export async function joinRun(
  deps: AgentDeps,
  threadId: string | null,
  runId: string,
  onDisconnect?: () => void,
): Promise<Response> {
  const local = deps.streams.get(runId);
  const state = await selectRunState(deps.sql, threadId, runId);
  if (!state) {
    // a stateless run is deleted when it ends; its result is still here for a while
    if (local?.outcome && threadId === null) return rawJson(local.outcome.answer);
    throw notFound("Run not found");
  }
  if (local?.outcome) return rawJson(local.outcome.answer);
  if (isFinal(state)) {
    const error = state.error ? (JSON.parse(state.error) as { error: string; message: string }) : undefined;
    return rawJson(answerOf(state.status, error, undefined, `{"values":${state.values ?? "null"}}`));
  }
  const stream = deps.queue.has(runId) ? deps.streams.open(runId) : deps.follower.follow(runId);
  return waitResponse(stream, { onDisconnect });
}

export interface StreamOptions {
  headers?: Record<string, string>;
  /** `Last-Event-ID`, contract §7.6; undefined for a reader that comes for the first time. */
  lastEventId?: string | undefined;
  modes?: string[];
  onDisconnect?: (() => void) | undefined;
}

/** The frames of a run known to this server. */
export function streamResponse(stream: RunStream, options: StreamOptions): Response {
  const { modes = [] } = options;
  const body = sseBody(stream.log, {
    from: firstFrame(options.lastEventId, stream),
    keep: modes.length > 0 ? (name) => wanted(name, modes) : undefined,
    onDisconnect: options.onDisconnect,
  });
  return new Response(body, { headers: { ...SSE_HEADERS, ...options.headers } });
}

/** `-1`: all; `n`: those after n; what is no number of a frame: only what comes. None given: all there is. */
function firstFrame(lastEventId: string | undefined, stream: RunStream): number {
  if (lastEventId === undefined || lastEventId === "-1") return 0;
  const last = Number(lastEventId);
  return Number.isInteger(last) && last >= 0 && last < stream.log.count ? last + 1 : stream.log.count;
}

const ALWAYS = new Set(["metadata", "error", "feedback", "end"]);

/** Does a frame belong to one of the modes? Subgraph frames carry a suffix, `messages` has several names. */
function wanted(name: string, modes: string[]): boolean {
  const root = name.split("|", 1)[0]!;
  if (ALWAYS.has(root)) return true;
  return modes.some((mode) =>
    mode === "messages-tuple"
      ? root === "messages"
      : mode === "messages"
        ? root.startsWith("messages/")
        : root === mode,
  );
}

/**
 * `join stream`: every frame from the beginning for a late reader too, wherever the run is executed. A run that
 * ended so long ago that its frames are gone yields its error frame, or nothing.
 */
export async function joinStream(
  deps: AgentDeps,
  threadId: string | null,
  runId: string,
  request: Request,
  options: StreamOptions,
): Promise<Response> {
  const state = await selectRunState(deps.sql, threadId, runId);
  const local = deps.streams.get(runId);
  if (!state && !(local?.outcome && threadId === null)) throw notFound("Run not found");
  if (local && (local.outcome || deps.queue.has(runId))) return streamResponse(local, options);
  if (state && isFinal(state)) return endedResponse(state, options);
  const elsewhere = state?.status === "running" ? await ownerUrl(deps, state) : undefined;
  if (elsewhere) return proxyStream(elsewhere, request);
  return streamResponse(deps.follower.follow(runId), options);
}

function endedResponse(state: RunState, options: StreamOptions): Response {
  const body =
    state.error && options.lastEventId === undefined
      ? Buffer.concat([
          sseFrame(0, "metadata", JSON.stringify({ run_id: state.run_id, attempt: state.attempt })),
          sseFrame(1, "error", state.error),
        ])
      : "";
  return new Response(body, { headers: { ...SSE_HEADERS, ...options.headers } });
}

async function ownerUrl(deps: AgentDeps, state: RunState): Promise<string | undefined> {
  if (state.server_id === null || state.server_id === deps.serverId) return undefined;
  return selectServerUrl(deps.sql, state.server_id);
}

/** Where to go on, and who asks: the other server lets nobody in either. */
const PASSED_ON = ["last-event-id", "x-api-key", "authorization", "x-tenant-id", "x-organization-id", "cookie"];

/** The server that executes the run has its frames; this one passes them on as they come. */
async function proxyStream(base: string, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const answer = await httpRequest(base + url.pathname + url.search, {
    headers: Object.fromEntries(
      PASSED_ON.flatMap((name) => (request.headers.has(name) ? [[name, request.headers.get(name)!]] : [])),
    ),
    signal: request.signal,
    bodyTimeout: 0,
  });
  return new Response(Readable.toWeb(answer.body) as ReadableStream<Uint8Array>, {
    status: answer.statusCode,
    headers: SSE_HEADERS,
  });
}
