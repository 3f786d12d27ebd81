/** Readers of a run: requests that wait for its result, and requests that follow its frames. */
import { setTimeout as sleep } from "node:timers/promises";

import { SSE_HEADERS, sseBody, sseFrame } from "../../base/events/sse.ts";
import { notFound } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import { slowJson, type SlowJsonOptions } from "../../base/http/slow-json.ts";
import type { AgentDeps } from "../deps.ts";
import { withLinks } from "../feedback-links/emit-links.ts";
import { buildOutput } from "../streams/run-output.ts";
import { isEvent } from "../streams/protocol-frames.ts";
import { readOutput, type RunStream } from "../streams/run-streams.ts";
import { type RunState, selectRunState } from "./sql.ts";
import { findMark } from "../streams/stream-marks.ts";
import { type KeptStream, selectKeptStream } from "../streams/sql.ts";

/** Maximum wait for frames that a reader has already seen to arrive here. */
const ARRIVAL_TIMEOUT_MS = 1500;

const isFinal = (state: RunState): boolean => state.status !== "pending" && state.status !== "running";

/** Returns the stream of a run that this server has just accepted. */
export function acceptedStream(deps: AgentDeps, { runId }: { runId: string }): RunStream {
  if (deps.queue.has(runId)) return deps.streams.open(runId);
  // if the run has already ended, its stream is still in memory
  return deps.streams.get(runId)?.outcome ? deps.streams.open(runId) : deps.follower.follow(runId, true);
}

/** Responds with the result of a run when it ends. */
export async function waitResponse(stream: RunStream, options: SlowJsonOptions = {}): Promise<Response> {
  if (stream.outcome) return rawJson(await readOutput(stream.outcome), options.headers);
  return slowJson(stream.done.promise.then(readOutput), options);
}

/** Serves `join`: the result of a run, now or when it ends. 404 for an unknown run. */
export async function joinRun(
  deps: AgentDeps,
  threadId: string | null,
  runId: string,
  onDisconnect?: () => void,
): Promise<Response> {
  const local = deps.streams.get(runId);
  const state = await selectRunState(deps.sql, threadId, runId);
  if (!state) {
    // a stateless run is deleted when it ends; its result stays in memory for a while, or is kept with its frames
    if (local?.outcome && threadId === null) return rawJson(await readOutput(local.outcome));
    if (threadId === null && (await selectKeptStream(deps.sql, runId)))
      return waitResponse(deps.follower.follow(runId));
    throw notFound("Run not found");
  }
  if (local?.outcome) return rawJson(await readOutput(local.outcome));
  if (isFinal(state)) {
    const error = state.error ? (JSON.parse(state.error) as { error: string; message: string }) : undefined;
    const output = buildOutput(
      state.status,
      error,
      undefined,
      () => state.values,
      () => state.interrupts,
    );
    return rawJson(withLinks(output, state.links ?? undefined));
  }
  const stream = deps.queue.has(runId) ? deps.streams.open(runId) : deps.follower.follow(runId, true);
  return waitResponse(stream, { onDisconnect });
}

/** Dependencies of a reader. */
export type ReaderDeps = Pick<AgentDeps, "sql" | "streams" | "follower"> & { queue: Pick<AgentDeps["queue"], "has"> };

export interface StreamOptions {
  headers?: Record<string, string>;
  /** `Last-Event-ID`; undefined for a new reader. */
  lastEventId?: string | undefined;
  modes?: string[];
  /** Only events of these namespaces; undefined: all. */
  namespaces?: string[] | undefined;
  /** Checkpoint after which to begin, if it is known; used unless `lastEventId` names a frame. */
  checkpointId?: string | undefined;
  onDisconnect?: (() => void) | undefined;
}

/**
 * Serves the frames of a run known to this server.
 * @param kept the stored stream, where not all of its frames have arrived here yet
 */
export function streamResponse(stream: RunStream, options: StreamOptions, kept?: KeptStream): Response {
  const body = sseBody(stream.log, {
    from: firstFrame(options, stream, kept),
    keep: frameFilter(options),
    onDisconnect: options.onDisconnect,
  });
  return new Response(body, { headers: { ...SSE_HEADERS, ...options.headers } });
}

/**
 * Returns the number of the first frame to send. Last-Event-ID `-1` or none: all frames; `n`: those after n; not a frame
 * number: only new frames.
 */
function firstFrame({ lastEventId, checkpointId }: StreamOptions, stream: RunStream, kept?: KeptStream): number {
  if (lastEventId === undefined || lastEventId === "-1") {
    if (checkpointId === undefined) return 0;
    const mark = stream.marks.find(checkpointId) ?? findMark(kept?.marks ?? null, checkpointId);
    return mark?.frames ?? 0;
  }
  const count = Math.max(stream.log.count, kept?.frames ?? 0);
  const last = frameNumber(lastEventId);
  return last !== undefined && last < count ? last + 1 : count;
}

const frameNumber = (id: string | undefined): number | undefined =>
  id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined;

const ALWAYS = new Set(["metadata", "error", "feedback", "incomplete", "end"]);

/**
 * Returns a predicate over frame names. A name is `mode|segment|segment`, without segments for the root graph, or that of
 * an event of protocol v2.
 */
function frameFilter({ modes = [], namespaces }: StreamOptions): (name: string) => boolean {
  if (modes.length === 0 && !namespaces) return (name) => !isEvent(name);
  return (name) => {
    if (isEvent(name)) return false;
    const [root, ...path] = name.split("|");
    if (ALWAYS.has(root!)) return true;
    return (
      (modes.length === 0 || matchesMode(root!, modes)) &&
      (namespaces?.some((namespace) => isWithin(path, namespace)) ?? true)
    );
  };
}

/** Whether a frame belongs to one of the modes. The mode `messages` has several frame names. */
const matchesMode = (root: string, modes: string[]): boolean =>
  modes.some((mode) =>
    mode === "messages-tuple"
      ? root === "messages"
      : mode === "messages"
        ? root.startsWith("messages/")
        : root === mode,
  );

/**
 * Whether a path belongs to the namespace. A segment is `<node>:<task id>`; the node alone matches all of its tasks.
 */
function isWithin(path: string[], namespace: string): boolean {
  const segments = namespace === "" ? [] : namespace.split("|");
  return (
    segments.length === path.length &&
    segments.every(
      (segment, i) => segment === path[i] || (!segment.includes(":") && path[i]!.startsWith(`${segment}:`)),
    )
  );
}

/**
 * Serves `join stream`: every frame from the beginning, for late readers too, whichever server executes the run,
 * and also after that server has stopped, if the frames are stored. A run whose frames have been deleted since it ended
 * yields its error frame, or nothing.
 */
export async function joinStream(
  deps: ReaderDeps,
  threadId: string | null,
  runId: string,
  options: StreamOptions,
): Promise<Response> {
  const state = await selectRunState(deps.sql, threadId, runId);
  const local = deps.streams.get(runId);
  const lastFrame = frameNumber(options.lastEventId);
  if (local && (local.outcome || deps.queue.has(runId)) && (state || threadId === null)) {
    if (lastFrame === undefined || lastFrame < local.log.count) return streamResponse(local, options);
    // executed on another server: frames may be stored but not have arrived here, or be those of a server that has stopped
    return streamResponse(local, options, await selectKeptStream(deps.sql, runId));
  }
  const kept = await selectKeptStream(deps.sql, runId);
  // a stateless run is deleted when it has ended
  if (!state && !(kept && threadId === null)) throw notFound("Run not found");
  if (state && isFinal(state) && !kept?.frames && deps.follower.alone) return endedResponse(state, options);
  const stream = deps.follower.follow(runId, state !== undefined);
  // the number of frames beyond the stored ones is known only when they arrive
  if (lastFrame !== undefined && lastFrame >= (kept?.frames ?? 0)) {
    await Promise.race([stream.log.waitFor(lastFrame), sleep(ARRIVAL_TIMEOUT_MS, undefined, { ref: false })]);
    if (state && isFinal(state) && stream.outcome && stream.log.count === 0) return endedResponse(state, options);
  }
  return streamResponse(stream, options, kept);
}

/**
 * Returns the stream of an ended run whose frames are no longer stored. A reader that has seen some of them is notified
 * that the others are lost.
 */
function endedResponse(state: RunState, { lastEventId, headers }: StreamOptions): Response {
  const { run_id, attempt, error } = state;
  const lastFrame = frameNumber(lastEventId);
  const frames: Buffer[] = [];
  if (lastFrame !== undefined) {
    const reason = "The frames of the run are no longer stored.";
    frames.push(sseFrame(undefined, "incomplete", JSON.stringify({ run_id, attempt, reason })));
  } else if (error && lastEventId === undefined) {
    frames.push(sseFrame(0, "metadata", JSON.stringify({ run_id, attempt })), sseFrame(1, "error", error));
  }
  return new Response(Buffer.concat(frames), { headers: { ...SSE_HEADERS, ...headers } });
}
