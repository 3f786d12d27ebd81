import type { Readable } from "node:stream";

/**
 * Yields the lines of a stream, including a last line without a line feed. Throws when the stream ends early.
 * @param longest length in characters at which a line may be cut, whatever its length
 */
export async function* readLines(stream: Readable, longest = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
  stream.setEncoding("utf8");
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + (chunk as string)).split("\n");
    rest = lines.pop()!.slice(0, longest);
    yield* lines;
  }
  if (rest !== "") yield rest;
}
