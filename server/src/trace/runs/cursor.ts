import { AppError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import { parseTime } from "../filter/literals.ts";
import type { Position } from "./select-page.ts";

/** Encodes the end of a page as an opaque cursor. */
export const encodeCursor = ({ start_time, id }: Position): string =>
  Buffer.from(JSON.stringify([start_time, id])).toString("base64url");

/** Throws 400 for a text that encodeCursor did not produce. */
export function readCursor(text: string | undefined): Position | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const [at, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, string];
    const start_time = parseTime(at);
    if (start_time !== undefined && isUuid(id)) return { start_time, id };
  } catch {
    // falls through
  }
  throw new AppError(400, "Invalid cursor: it must come from an earlier response");
}
