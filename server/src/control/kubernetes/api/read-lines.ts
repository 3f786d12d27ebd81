import type { Readable } from "node:stream";

/** Yields the lines of a stream, including a last line without a line feed. Throws when the stream ends early. */
export async function* readLines(stream: Readable): AsyncGenerator<string> {
  stream.setEncoding("utf8");
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + (chunk as string)).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}
