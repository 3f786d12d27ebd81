/** Characters of one event. */
const MAX_EVENT = 16 * 1024 * 1024;

/** Parses the JSON data of server-sent events. Throws SyntaxError for data that is not JSON. */
export async function* readSseData(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?=.)/);
    rest = lines.pop()!;
    if (rest.length > MAX_EVENT) throw new SyntaxError("an event exceeds 16 MiB");
    for (const line of lines) if (line.startsWith("data:")) yield JSON.parse(line.slice(5));
  }
  if (rest.startsWith("data:")) yield JSON.parse(rest.slice(5));
}
