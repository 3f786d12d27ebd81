import { rawJson } from "./route.ts";

const SOON_MS = 900;
const NEWLINE = new Uint8Array([10]);

/**
 * JSON that may take long: at once when it is soon there, else with a line feed a second before it, so that nobody
 * between here and the client takes the silence for an end. `text` must not reject.
 */
export async function slowJson(text: Promise<string>, onDisconnect: () => void): Promise<Response> {
  let late: NodeJS.Timeout | undefined;
  const soon = await Promise.race([
    text,
    new Promise<undefined>((resolve) => {
      late = setTimeout(resolve, SOON_MS, undefined);
    }),
  ]).finally(() => clearTimeout(late));
  if (soon !== undefined) return rawJson(soon);
  let timer: NodeJS.Timeout;
  let done = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(NEWLINE);
      timer = setInterval(() => {
        // nobody takes them: the client hangs, and does not need more of them
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
      if (!done) onDisconnect();
      done = true;
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}
