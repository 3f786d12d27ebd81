import { AppError, unprocessable } from "../../base/errors.ts";
import { rawFields, rawListFields, type Span } from "./raw-fields.ts";
import { MAX_RUNS, RAW_FIELDS, type RunMessage, tooManyRuns } from "./run-piece.ts";

/** Parses one run's object. */
export function readSingle(text: string, kind: "post" | "patch", id?: string): RunMessage {
  const run = parse(text);
  if (run === null || typeof run !== "object" || Array.isArray(run)) throw unprocessable("body: must be an object");
  return toRunMessage(text, run as Record<string, unknown>, rawFields(text, WANTED), kind, id);
}

/**
 * Parses `{"post": [...], "patch": [...]}`. Creates come first, regardless of the order of the keys.
 */
export function readBatch(text: string): RunMessage[] {
  const batch = parse(text);
  if (batch === null || typeof batch !== "object" || Array.isArray(batch))
    throw unprocessable("body: must be an object");
  const both = batch as Record<string, unknown>;
  if (length(both["post"]) + length(both["patch"]) > MAX_RUNS) throw tooManyRuns();
  const lists = rawListFields(text, WANTED_LISTS);
  return (["post", "patch"] as const).flatMap((kind) => {
    const runs = both[kind];
    if (runs === undefined || runs === null) return [];
    if (!Array.isArray(runs)) throw unprocessable(`${kind}: must be a list`);
    const spans = lists.get(kind)!;
    return runs.map((run: unknown, i) => {
      if (run === null || typeof run !== "object" || Array.isArray(run))
        throw unprocessable(`${kind}.${i}: must be an object`);
      return toRunMessage(text, run as Record<string, unknown>, spans[i]!, kind);
    });
  });
}

const length = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** Fields whose text is stored as it is. */
const WANTED: ReadonlySet<string> = new Set(RAW_FIELDS);
const WANTED_LISTS = { lists: new Set(["post", "patch"]), fields: WANTED, most: MAX_RUNS };

/** @param spans where the fields of the run's object are in `text` */
function toRunMessage(
  text: string,
  run: Record<string, unknown>,
  spans: Map<string, Span>,
  kind: "post" | "patch",
  id?: string,
): RunMessage {
  const raw: RunMessage["raw"] = {};
  const values: NonNullable<RunMessage["values"]> = {};
  for (const field of RAW_FIELDS) {
    if (run[field] === undefined || run[field] === null) continue;
    const { start, end } = spans.get(field)!;
    raw[field] = text.slice(start, end);
    values[field] = run[field];
  }
  return { kind, id, run, raw, values };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError(400, "Malformed JSON in request body");
  }
}
