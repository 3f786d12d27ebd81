import { rawJson } from "../../base/http/route.ts";

/** Text that is gathered before an answer begins; what fails until then is an error with a status. */
const GATHERED = 4 * 1024 * 1024;

/**
 * JSON that comes in chunks: sent in one piece while it is small, and as a stream, read only as fast as the client
 * takes it, when it isn't. A stream that fails is cut off, and the client's parser notices.
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
