import { rawJson } from "../../base/http/route.ts";

/** Characters buffered before a response begins; a failure until then gets an error status. */
const MAX_BUFFERED = 4 * 1024 * 1024;

/**
 * Sends JSON chunks: as one body if small, otherwise as a stream that is read at the client's pace. A stream that fails
 * is truncated, which the client's parser detects.
 */
export async function jsonFrom(chunks: AsyncGenerator<string>): Promise<Response> {
  const buffered: string[] = [];
  let size = 0;
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return rawJson(buffered.join(""));
    buffered.push(value);
    size += value.length;
    if (size > MAX_BUFFERED) return streamed(buffered.join(""), chunks);
  }
}

function streamed(head: string, rest: AsyncGenerator<string>): Response {
  const encoder = new TextEncoder();
  let pending: string | undefined = head;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (pending !== undefined) {
        controller.enqueue(encoder.encode(pending));
        pending = undefined;
        return;
      }
      const { value, done } = await rest.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
  return new Response(stream, { headers: { "Content-Type": "application/json" } });
}

export async function* surround(head: string, chunks: AsyncGenerator<string>, tail: string): AsyncGenerator<string> {
  yield head;
  yield* chunks;
  yield tail;
}
