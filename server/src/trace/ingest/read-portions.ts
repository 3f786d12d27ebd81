import { BodyTooLargeError } from "../../base/http/read-body.ts";
import { BODY_SETTING } from "../settings.ts";
import { broken, type Part, scanParts } from "./read-multipart.ts";

/** A body may be so many times as large as what is in memory of it. */
export const MAX_PORTIONS = 4;

/** Complete parts of a multipart body. */
export interface Portion {
  parts: Part[];
  /** Names of parts that are larger than the limit, whose content was skipped. */
  tooLarge: string[];
}

/**
 * Divides a multipart body into portions of at most `maxBytes`, and a chunk, that end with a part: an SDK sends runs of
 * any size in one request, and the small ones must not be lost with a large one. A body within the limit is one portion.
 * Each must be stored before the next is read.
 * @param keep called with the number of bytes that stay in memory
 * @throws 400 for a malformed body, 413 when there is no part within the limit
 */
export async function* readPortions(
  chunks: AsyncIterable<Buffer>,
  delimiter: Buffer,
  maxBytes: number,
  keep: (bytes: number) => void,
): AsyncGenerator<Portion> {
  let held: Buffer[] = [];
  let size = 0;
  let isSkipping = false;
  let tooLarge: string[] = [];
  /** Keeps the end of what was read; a copy, so that the rest of it can be collected. */
  const hold = (end: Buffer) => {
    held = [Buffer.from(end)];
    size = end.length;
    keep(size);
  };
  // a chunk may end a part that is larger
  const portion = (parts: Part[]): Portion => ({
    parts: parts.filter(({ content }) => content.length <= maxBytes),
    tooLarge: [...tooLarge, ...parts.filter(({ content }) => content.length > maxBytes).map(({ name }) => name)],
  });
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    if (isSkipping) {
      const body = Buffer.concat(held);
      const at = body.indexOf(delimiter);
      isSkipping = at < 0;
      hold(body.subarray(isSkipping ? Math.max(0, body.length - delimiter.length + 1) : at));
      continue;
    }
    if (size <= maxBytes) continue;
    const body = Buffer.concat(held);
    if (body.indexOf(delimiter.subarray(2)) < 0) throw new BodyTooLargeError(maxBytes, BODY_SETTING);
    const { parts, rest, next, hasEnded } = scanParts(body, delimiter, false);
    if (parts.length === 0 && !hasEnded) {
      if (next === undefined) throw new BodyTooLargeError(maxBytes, BODY_SETTING);
      tooLarge.push(next);
      isSkipping = true;
      hold(body.subarray(body.length - delimiter.length + 1));
      continue;
    }
    held = [];
    yield portion(parts);
    if (hasEnded) return;
    tooLarge = [];
    hold(body.subarray(rest));
  }
  if (isSkipping) throw broken("it ends within a part");
  const body = held.length === 1 ? held[0]! : Buffer.concat(held);
  held = [];
  yield portion(scanParts(body, delimiter, true).parts);
}
