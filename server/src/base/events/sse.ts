import type { FrameLog } from "./frame-log.ts";

/** Characters that JSON allows in strings, and that Python's clients take for ends of lines (`str.splitlines`). */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;
const LINE_END_BYTES = ["\u0085", "\u2028", "\u2029"].map((end) => Buffer.from(end));

/** Returns JSON text that is one line for every client. */
export const oneLine = (json: string): string =>
  json.replaceAll(LINE_ENDS, (end) => String.raw`\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`);

const oneLineBytes = (json: Buffer): Buffer =>
  LINE_END_BYTES.some((end) => json.includes(end)) ? Buffer.from(oneLine(json.toString())) : json;

/** Encodes a server-sent event. `data` is JSON text on one line. */
/** @param id undefined: the frame is not part of the stored stream, and does not move a reader's `Last-Event-ID` */
export function sseFrame(id: number | undefined, event: string, json: string | Buffer): Buffer {
  const data = typeof json === "string" ? oneLine(json) : oneLineBytes(json);
  // the name may be a user's node name: it must not end the line
  const head = `event: ${event.replaceAll(/[\r\n\u0085\u2028\u2029]/g, " ")}\ndata: `;
  const tail = id === undefined ? "\n\n" : `\nid: ${id}\n\n`;
  const dataLength = typeof data === "string" ? Buffer.byteLength(data) : data.length;
  const frame = Buffer.allocUnsafe(Buffer.byteLength(head) + dataLength + tail.length);
  let offset = frame.write(head, 0, "utf8");
  offset += typeof data === "string" ? frame.write(data, offset, "utf8") : data.copy(frame, offset);
  frame.write(tail, offset, "latin1");
  return frame;
}

/** Splits concatenated frames. Returns views of `bytes`, not copies. */
export function splitFrames(bytes: Buffer): { name: string; frame: Buffer }[] {
  const frames: { name: string; frame: Buffer }[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf("\n\n", at) + 2;
    if (end < 2) throw new Error("the frame is not terminated");
    const name = bytes.toString("utf8", at + "event: ".length, bytes.indexOf(10, at));
    frames.push({ name, frame: bytes.subarray(at, end) });
    at = end;
  }
  return frames;
}

/** Returns the data of a frame made by `sseFrame`. */
export function frameData(frame: Buffer): Buffer {
  const start = frame.indexOf("\ndata: ") + "\ndata: ".length;
  const end = frame.lastIndexOf("\nid: ");
  return frame.subarray(start, end < 0 ? frame.length - 2 : end);
}

const HEARTBEAT = Buffer.from(": heartbeat\n\n");

/** Prevents proxies from buffering and compressing (pains T4). Without a charset, some clients read Latin-1. */
export const SSE_HEADERS: Record<string, string> = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/**
 * Streams an iterable as a response body: the next piece when the socket has taken the last, a comment after
 * `heartbeatMs` of silence. `onLeave` is called once, when the client disconnects or the iterable ends or fails.
 */
export function textBody(
  pieces: AsyncIterator<Uint8Array>,
  { heartbeatMs = 5000, onLeave }: { heartbeatMs?: number; onLeave: () => void },
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<Uint8Array>> | undefined;
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // one pending next() spans any number of heartbeats
        next ??= pieces.next();
        const silence = new Promise<"silence">((resolve) => {
          timer = setTimeout(resolve, heartbeatMs, "silence");
        });
        const got = await Promise.race([next, silence])
          .catch((error: unknown) => {
            onLeave();
            throw error;
          })
          .finally(() => clearTimeout(timer));
        if (got === "silence") return controller.enqueue(HEARTBEAT);
        next = undefined;
        if (!got.done) return controller.enqueue(got.value);
        onLeave();
        controller.close();
      },
      cancel() {
        clearTimeout(timer);
        onLeave();
      },
    },
    { highWaterMark: 0 },
  );
}

export interface SseOptions {
  /** Number of the first frame to send. */
  from: number;
  keep?: ((name: string) => boolean) | undefined;
  heartbeatMs?: number;
  /** Time after which a reader that takes nothing, although there is data, is disconnected. */
  stallMs?: number;
  onDisconnect?: (() => void) | undefined;
}

/**
 * Streams a log as a response body. Pull-based: the next bytes are fetched when the socket has taken the last ones, so
 * a stalled reader holds one chunk and a position. A comment is sent after `heartbeatMs` of silence.
 *
 * The body ends cleanly only after the last frame of a closed log. When a reader is dropped before that, because it
 * stalls or the log is disposed of, its connection is broken, so that it cannot mistake the stream for complete.
 */
export function sseBody(log: FrameLog, options: SseOptions): ReadableStream<Uint8Array> {
  const heartbeatMs = options.heartbeatMs ?? 5000;
  const stallMs = options.stallMs ?? 300_000;
  let at = options.from;
  let isClosed = false;
  let lastPull = performance.now();
  let wakeUp: ((silent: boolean) => void) | undefined;
  let waiting = false;
  const timer = setInterval(() => {
    if (wakeUp) wakeUp(true);
    else if (performance.now() - lastPull > stallMs) cut("the reader stopped reading");
  }, heartbeatMs);

  log.acquire();
  function leave(): void {
    if (isClosed) return;
    isClosed = true;
    clearInterval(timer);
    log.release();
    wakeUp?.(false);
  }

  let controller: ReadableStreamDefaultController<Uint8Array>;
  function finish(): void {
    if (isClosed) return;
    leave();
    try {
      controller.close();
    } catch {
      // closed by the client already
    }
  }

  function cut(reason: string): void {
    if (isClosed) return;
    leave();
    controller.error(new Error(reason));
  }

  /** Resolves to true when no frame came for one interval. One wait on the log spans any number of heartbeats. */
  function silence(): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      wakeUp = resolve;
      if (waiting) return;
      waiting = true;
      void log.waitFor(at).then(() => {
        waiting = false;
        wakeUp?.(false);
      });
    });
  }

  return new ReadableStream<Uint8Array>(
    {
      start(streamController) {
        controller = streamController;
      },
      async pull() {
        lastPull = performance.now();
        for (;;) {
          if (isClosed) return;
          if (at < log.count) {
            const { bytes, next } = await log.read(at, options.keep);
            if (next === at) return cut("the stream was disposed of");
            at = next;
            if (!bytes) continue;
            if (!isClosed) controller.enqueue(bytes);
            return;
          }
          if (log.aborted) return cut("the stream was disposed of");
          if (log.closed) return finish();
          const silent = await silence();
          wakeUp = undefined;
          if (isClosed) return;
          if (silent && at >= log.count && !log.closed) {
            controller.enqueue(HEARTBEAT);
            return;
          }
        }
      },
      cancel() {
        const early = !isClosed && !(log.closed && at >= log.count);
        leave();
        if (early) options.onDisconnect?.();
      },
    },
    { highWaterMark: 0 },
  );
}
