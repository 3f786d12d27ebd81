import { oneLine, SSE_HEADERS } from "../../base/events/sse.ts";
import { type EventFilter, matches, channelMethod } from "./event-name.ts";
import type { Caller } from "./caller.ts";
import type { ThreadFeeds } from "./thread-feeds.ts";
import type { ProtocolEvent } from "./sql.ts";

const HEARTBEAT_MS = 5000;
/** Time after which a reader that does not read pending events is disconnected. */
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
 * Streams a thread's events, past and new, over all of its runs; ends only with the server or the thread. Pull-based: a
 * stalled reader holds one page of events and slows down no other reader.
 */
export async function eventStream(feeds: ThreadFeeds, { caller, filter, since }: EventStream): Promise<Response> {
  const feed = await feeds.open(caller.threadId);
  let at = since;
  let isClosed = false;
  let lastPull = performance.now();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let silent: (() => void) | undefined;
  let waiting = false;
  const timer = setInterval(() => {
    if (silent) silent();
    else if (performance.now() - lastPull > STALL_MS) finish();
  }, HEARTBEAT_MS);

  function leave(): void {
    if (isClosed) return;
    isClosed = true;
    clearInterval(timer);
    feeds.release(feed);
    silent?.();
  }
  function finish(): void {
    if (isClosed) return;
    leave();
    controller.close();
  }
  /** Resolves when there are more events, or on a heartbeat. One wait outlives any number of heartbeats. */
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
      start(streamController) {
        controller = streamController;
        // flushes the headers to proxies, and to clients that wait for the first byte
        controller.enqueue(encoder.encode(": open\n\n"));
      },
      async pull() {
        lastPull = performance.now();
        while (!isClosed) {
          if (feed.closed) return finish();
          const last = feed.last;
          const events = await feed.read(at);
          if (events.length > 0) {
            if (!(await caller.maySee())) return finish();
            at = events.at(-1)!.seq;
            const text = events.filter((event) => matches(filter, event)).map(frame);
            if (text.length === 0) continue;
            if (!isClosed) controller.enqueue(encoder.encode(text.join("")));
            return;
          }
          // numbers without events: those were too old and have been deleted
          at = Math.max(at, last);
          await more();
          silent = undefined;
          if (!isClosed && !feed.closed && feed.last <= at) return controller.enqueue(HEARTBEAT);
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: SSE_HEADERS });
}

const frame = ({ seq, channel, json }: ProtocolEvent): string =>
  `event: ${channelMethod(channel)}\ndata: ${oneLine(json)}\nid: ${seq}\n\n`;
