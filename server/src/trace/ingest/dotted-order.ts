import { AppError } from "../../base/errors.ts";

/**
 * Position of a run in its trace: a segment for each run from the root down to it, joined by dots, each
 * `YYYYMMDDTHHMMSSffffffZ` and the run's id.
 */
export interface TracePosition {
  trace_id: string;
  /** Undefined for a root. */
  parent_run_id: string | undefined;
  /** Start of the run itself, as `YYYY-MM-DD hh:mm:ss.ffffff`. */
  start_time: string;
}

const SEGMENT =
  /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
const MAX_SEGMENTS = 1000;

/** Parses and validates a dotted order. @throws 400 with the wording that users of the SDKs know */
export function readDottedOrder(text: string, id: string): TracePosition {
  // before it is split: text of dots only would become as many texts
  const segments = text.split(".", MAX_SEGMENTS + 1);
  if (segments.length > MAX_SEGMENTS) throw invalid(`more than ${MAX_SEGMENTS} levels`);
  const parsed = segments.map((segment) => {
    const match = SEGMENT.exec(segment);
    if (!match)
      throw invalid(`cannot parse ${JSON.stringify(segment.slice(0, 80))} as "20060102T150405.000000Z" and a UUID`);
    return match;
  });
  for (let i = 1; i < segments.length; i++) {
    if (segments[i]!.slice(0, 22) < segments[i - 1]!.slice(0, 22)) {
      throw invalid(
        `run timestamp ${segments[i]!.slice(0, 22)} is earlier than parent timestamp ${segments[i - 1]!.slice(0, 22)}`,
      );
    }
  }
  const own = parsed.at(-1)!;
  if (own[8]!.toLowerCase() !== id) throw invalid(`its last id must be the run's, ${id}`);
  const [, year, month, day, hour, minute, second, micros] = own;
  return {
    trace_id: parsed[0]![8]!.toLowerCase(),
    parent_run_id: parsed.at(-2)?.[8]!.toLowerCase(),
    start_time: `${year}-${month}-${day} ${hour}:${minute}:${second}.${micros}`,
  };
}

const invalid = (why: string) => new AppError(400, `invalid 'dotted_order': ${why}`);

/** Formats a segment. @param startTime `YYYY-MM-DD hh:mm:ss.ffffff` */
export const dottedSegment = (startTime: string, id: string): string =>
  `${startTime.replace(/[-:.]/g, "").replace(" ", "T")}Z${id}`;
