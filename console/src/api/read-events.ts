/** Event of a `text/event-stream` response. */
export interface ServerEvent {
  event: string;
  data: string;
}

/** Longest event in characters; a server that sends more is not ours. */
const MAX_EVENT = 8_000_000;

/** Reads the events of a response's body as they arrive (HTML Living Standard, server-sent events). */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks(body)) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/);
    rest = blocks.pop()!;
    if (rest.length > MAX_EVENT) throw new Error("The server sent an event that is too long");
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** Reads a stream's chunks; Safari's streams are no async iterables. */
async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // closes the connection when the caller stops reading
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): ServerEvent | null {
  let event = "message";
  const lines: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field, value = ""] = /^([^:]*)(?::\s?(.*))?$/s.exec(line) ?? [];
    if (field === "event") event = value;
    if (field === "data") lines.push(value);
  }
  return lines.length > 0 ? { event, data: lines.join("\n") } : null;
}
