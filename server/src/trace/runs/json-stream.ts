import { rawJson } from "../../base/http/route.ts";

/** Characters buffered before a response begins; failures until then get an error status. */
const GATHERED = 4 * 1024 * 1024;

/**
 * Sends JSON chunks: as one body if small, otherwise as a stream that is read at the client's pace. A failing stream is
 * cut off, which the client's parser detects.
 */
export async function jsonFrom(chunks: AsyncGenerator<string>): Promise<Response> {
  const gathered: string[] = [];
  let size = 0;
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return rawJson(gathered.join(""));
    gathered.push(value);
    size += value.length;
    if (size > GATHERED) return streamed(gathered.join(""), chunks);
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

export async function* around(head: string, chunks: AsyncGenerator<string>, tail: string): AsyncGenerator<string> {
  yield head;
  yield* chunks;
  yield tail;
}
