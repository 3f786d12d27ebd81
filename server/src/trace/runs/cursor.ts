import { AppError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import { parseTime } from "../run-rows/times.ts";
import type { Position } from "./select-page.ts";
import type { SortKey } from "./sort-keys.ts";

/** Encodes the end of a page as an opaque cursor. */
export const encodeCursor = ({ start_time, id, sort_value }: Position, sort: SortKey = "start_time"): string =>
  Buffer.from(JSON.stringify([start_time, id, ...(sort === "start_time" ? [] : [sort, sort_value ?? null])])).toString(
    "base64url",
  );

/** Throws 400 for a text that encodeCursor did not produce, or for a list in another order. */
export function readCursor(text: string | undefined, sort: SortKey = "start_time"): Position | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const [at, id, key = "start_time", sort_value = null] = JSON.parse(Buffer.from(text, "base64url").toString()) as [
      string,
      string,
      SortKey?,
      (number | string | null)?,
    ];
    const start_time = parseTime(at);
    const isValue =
      sort_value === null || (sort === "name" ? typeof sort_value === "string" : Number.isFinite(sort_value));
    if (start_time !== undefined && isUuid(id) && key === sort && isValue) return { start_time, id, sort_value };
  } catch {
    // falls through
  }
  throw new AppError(400, "Invalid cursor: it must come from an earlier response to the same query");
}
