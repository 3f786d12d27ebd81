import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { Frame, Operation } from "../check/world.ts";
import { LONG_MS, type Reachable, type Session } from "./session.ts";

interface Part {
  id?: string | undefined;
  event: string;
  data: unknown;
}

export interface StreamedRun {
  thread: string;
  run: string;
  resumable: boolean;
}

/**
 * Collects a stream into its operation. A heartbeat after a frame makes the client emit an empty part. For an event
 * without an id, such as a local `incomplete`, the client reports the id of the frame before it.
 */
export async function collect(operation: Operation, parts: AsyncIterable<Part>, leaveAfter = Infinity): Promise<void> {
  operation.frames ??= [];
  let count = 0;
  for await (const { id, event, data } of parts) {
    if (event === "") continue;
    const isNumbered = id !== undefined && id !== lastId(operation.frames);
    operation.frames.push({ ...(isNumbered && { id }), event, data: JSON.stringify(data) });
    if (++count >= leaveAfter) return;
  }
}

const lastId = (frames: Frame[]): string | undefined => frames.findLast(({ id }) => id !== undefined)?.id;

/**
 * Reads a run's stream from its beginning on a server. Sometimes it disconnects in the middle and resumes by
 * Last-Event-ID, on the same or the other server. The frames of all its connections count as one reader's.
 */
export async function readStream(
  session: Session,
  { thread, run, resumable }: StreamedRun,
  server: Reachable,
): Promise<void> {
  const reader = randomUUID().slice(0, 8);
  const operation = session.history.invoke("stream.read", { thread, run, reader, resumable, server, frames: [] });
  const frames = operation.frames!;
  let closed: Operation["closed"] = "broken";
  const deadline = Date.now() + LONG_MS;
  let visits = resumable && session.chance(0.5) ? session.between(1, 3) : 0;
  for (let at = server; Date.now() < deadline; at = session.server()) {
    const leaveAfter = visits-- > 0 ? session.between(1, 6) : Number.POSITIVE_INFINITY;
    const before = frames.length;
    try {
      const options = { lastEventId: lastId(frames) ?? "-1", signal: AbortSignal.timeout(LONG_MS) };
      await collect(operation, session.client(at).runs.joinStream(thread, run, options), leaveAfter);
      closed = frames.length - before >= leaveAfter ? "left" : "whole";
      if (closed === "whole") break;
    } catch (error) {
      operation.error = (error as Error).message.slice(0, 200);
      if ((error as { status?: number }).status === 404) break;
      closed = "broken";
      // only a resumable stream can be resumed
      if (!resumable || session.isStopping) break;
      await sleep(500);
    }
  }
  session.history.complete(operation, { outcome: closed === "broken" ? "unknown" : "ok", closed });
}
