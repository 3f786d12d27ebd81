import { rawJson } from "./route.ts";

const SOON_MS = 900;
const NEWLINE = new Uint8Array([10]);

export interface SlowJsonOptions {
  headers?: Record<string, string>;
  /** Called when the client disconnects before the answer is ready. */
  onDisconnect?: (() => void) | undefined;
}

/**
 * Responds with JSON that may take long: at once when it is ready within SOON_MS, else preceded by a line feed per
 * second, so that no proxy takes the silence for a dead connection. `text` must not reject.
 */
export async function slowJson(
  text: Promise<string | Buffer>,
  { headers, onDisconnect }: SlowJsonOptions = {},
): Promise<Response> {
  let late: NodeJS.Timeout | undefined;
  const soon = await Promise.race([
    text,
    new Promise<undefined>((resolve) => {
      late = setTimeout(resolve, SOON_MS, undefined);
    }),
  ]).finally(() => clearTimeout(late));
  if (soon !== undefined) return rawJson(soon, headers);
  let timer: NodeJS.Timeout;
  let done = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(NEWLINE);
      timer = setInterval(() => {
        // the client has stopped reading, so further bytes would only be buffered
        if ((controller.desiredSize ?? 0) > -1000) controller.enqueue(NEWLINE);
      }, 1000);
      void text.then((json) => {
        clearInterval(timer);
        if (done) return;
        done = true;
        controller.enqueue(Buffer.from(json));
        controller.close();
      });
    },
    cancel() {
      clearInterval(timer);
      if (!done) onDisconnect?.();
      done = true;
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/json", ...headers } });
}
