import { SSE_HEADERS, sseFrame, textBody } from "./sse.ts";

/** Event on the wire: its name and its data. */
export interface WireEvent {
  event: string;
  data: unknown;
}

/** Longest wait for a reader who takes nothing, after the time limit of what is streamed. */
const GRACE_MS = 5000;

/**
 * Streams events as a response. The next event is asked for when the socket has taken the last one; when the reader
 * leaves, or stops reading beyond `limitMs`, `controller` is aborted and the generator ended.
 */
export function eventStream(
  events: AsyncGenerator<WireEvent, void>,
  controller: AbortController,
  limitMs: number,
): Response {
  async function* frames(): AsyncGenerator<Uint8Array, void> {
    for await (const { event, data } of events) yield sseFrame(undefined, event, JSON.stringify(data));
  }
  const pieces = frames();
  const end = () => {
    clearTimeout(timer);
    controller.abort(new Error("the reader left"));
    // the reader has left, so a failed end cannot be reported
    pieces.return(undefined).catch(() => {});
  };
  const timer = setTimeout(end, limitMs + GRACE_MS);
  timer.unref();
  return new Response(textBody(pieces, { onLeave: end }), { headers: SSE_HEADERS });
}
