import { SSE_HEADERS } from "../../base/events/sse.ts";
import { type EventFilter, matches, methodOf } from "./event-name.ts";
import type { Caller } from "./caller.ts";
import type { ProtocolLog } from "./protocol-log.ts";
import type { ProtocolEvent } from "./sql.ts";

const HEARTBEAT_MS = 5000;
/** A reader that takes nothing for this long, although there is something, is let go. */
const STALL_MS = 300_000;
const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": heartbeat\n\n");

export interface EventStream {
  caller: Caller;
  filter: EventFilter;
  /** Only events after this number. */
  since: number;
}

/**
 * The events of a thread as they are and as they come, over all of its runs; it ends only with the server or the
 * thread. Pulled: a reader that stalls holds one page of events and slows nobody.
 */
export async function eventStream(log: ProtocolLog, { caller, filter, since }: EventStream): Promise<Response> {
  const feed = await log.open(caller.threadId);
  let at = since;
  let gone = false;
  let lastPull = performance.now();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let silent: (() => void) | undefined;
  let waiting = false;
  const timer = setInterval(() => {
    if (silent) silent();
    else if (performance.now() - lastPull > STALL_MS) finish();
  }, HEARTBEAT_MS);

  function leave(): void {
    if (gone) return;
    gone = true;
    clearInterval(timer);
    log.release(feed);
    silent?.();
  }
  function finish(): void {
    if (gone) return;
    leave();
    controller.close();
  }
  /** Until there is more, or nothing came for a while. One wait outlives any number of heartbeats. */
  const more = () =>
    new Promise<void>((resolve) => {
      silent = resolve;
      if (waiting) return;
      waiting = true;
      void feed.waitFor(at).then(() => {
        waiting = false;
        silent?.();
      });
    });

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        // proxies, and clients that wait for the first byte, learn that it is open
        controller.enqueue(encoder.encode(": open\n\n"));
      },
      async pull() {
        lastPull = performance.now();
        while (!gone) {
          if (feed.closed) return finish();
          const last = feed.last;
          const events = await feed.read(at);
          if (events.length > 0) {
            if (!(await caller.maySee())) return finish();
            at = events.at(-1)!.seq;
            const text = events.filter((event) => matches(filter, event)).map(frame);
            if (text.length === 0) continue;
            if (!gone) controller.enqueue(encoder.encode(text.join("")));
            return;
          }
          // numbers without events: they were too old to be kept
          at = Math.max(at, last);
          await more();
          silent = undefined;
          if (!gone && !feed.closed && feed.last <= at) return controller.enqueue(HEARTBEAT);
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: SSE_HEADERS });
}

const frame = ({ seq, channel, json }: ProtocolEvent): string =>
  `event: ${methodOf(channel)}\ndata: ${json}\nid: ${seq}\n\n`;
