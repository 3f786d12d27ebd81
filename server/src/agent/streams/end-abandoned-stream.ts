import { isDeepStrictEqual } from "node:util";

import type { Sql } from "../../base/db/connect.ts";
import { frameData, splitFrames, sseFrame } from "../../base/events/sse.ts";
import { incompleteEvent } from "./protocol-frames.ts";
import {
  flagIncompleteStream,
  keepFrames,
  type KeptStream,
  type RunResultRow,
  selectRunResult,
  selectTail,
} from "./sql.ts";

const REASON = "The server that executed the run was lost before it stored all frames.";

/**
 * Ends a stored stream whose writer did not, and marks stream and run as incomplete if frames may be missing. Rebuilds
 * the last events from the run's row: the error of a failed run, else the state, if values were streamed; and the
 * feedback links. Any server may do this; doing it twice does no harm.
 */
export async function endAbandonedStream(sql: Sql, stream: KeptStream): Promise<void> {
  const { run_id: runId, thread_id: threadId, attempt, frames: first } = stream;
  const tail = splitFrames(Buffer.from(first > 0 ? await selectTail(sql, runId) : ""));
  const hasFeedback = tail.some(({ name }) => name === "feedback");
  const failed = tail.findLast(({ name }) => name !== "feedback")?.name === "error";
  // a temporary run's row is deleted, and only its frames show how it ended
  const status = failed && stream.status === "success" ? "error" : stream.status!;
  const result = first > 0 && !hasFeedback ? await selectRunResult(sql, runId) : undefined;
  const missing = result && !failed ? [missingFrame(stream, result, tail) ?? []].flat() : [];
  // a run that never started has no frames
  const isIncomplete = first > 0 || attempt > 0;
  if (isIncomplete) {
    missing.unshift({ event: "incomplete", data: JSON.stringify({ run_id: runId, attempt, reason: REASON }) });
    if (stream.protocol_graph !== null)
      missing.push(incompleteEvent({ runId, attempt, graph: stream.protocol_graph }, REASON));
    await flagIncompleteStream(sql, runId, REASON);
  }
  if (result?.links) missing.push({ event: "feedback", data: result.links });
  const frames = missing.map(({ event, data }, i) => sseFrame(first + i, event, data).toString()).join("");
  const count = missing.length;
  const end = { runId, threadId, attempt, first, count, frames, marks: null, status, notify: true };
  await keepFrames(sql, [end]);
}

function missingFrame(
  stream: KeptStream,
  result: RunResultRow,
  tail: { name: string; frame: Buffer }[],
): { event: string; data: string } | undefined {
  if (stream.status === "error" || stream.status === "timeout") {
    return result.error === null ? undefined : { event: "error", data: result.error };
  }
  const values = tail.findLast(({ name }) => name === "values");
  if (!values || result.values === null) return undefined;
  const streamed = JSON.parse(frameData(values.frame).toString()) as Record<string, unknown>;
  if ("__interrupt__" in streamed || isDeepStrictEqual(streamed, JSON.parse(result.values))) return undefined;
  return { event: "values", data: result.values };
}
