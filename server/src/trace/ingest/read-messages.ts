import { AppError, unprocessable } from "../../base/errors.ts";
import { rawElements, rawFields, type Span } from "./raw-fields.ts";
import { RAW_FIELDS, type RunMessage } from "./run-piece.ts";

/** Parses one run's object (contract §1.2, §1.3). */
export function readSingle(text: string, kind: "post" | "patch", id?: string): RunMessage {
  const run = parse(text);
  if (run === null || typeof run !== "object" || Array.isArray(run)) throw unprocessable("body: must be an object");
  return toRunMessage(text, run as Record<string, unknown>, 0, kind, id);
}

/**
 * Parses `{"post": [...], "patch": [...]}` (contract §1.4). Creates come first, regardless of the order of the keys.
 */
export function readBatch(text: string): RunMessage[] {
  const batch = parse(text);
  if (batch === null || typeof batch !== "object" || Array.isArray(batch))
    throw unprocessable("body: must be an object");
  const fields = rawFields(text);
  return (["post", "patch"] as const).flatMap((kind) => {
    const runs = (batch as Record<string, unknown>)[kind];
    if (runs === undefined || runs === null) return [];
    if (!Array.isArray(runs)) throw unprocessable(`${kind}: must be a list`);
    const spans = rawElements(text, fields.get(kind)!.start);
    return runs.map((run: unknown, i) => {
      if (run === null || typeof run !== "object" || Array.isArray(run))
        throw unprocessable(`${kind}.${i}: must be an object`);
      return toRunMessage(text, run as Record<string, unknown>, spans[i]!.start, kind);
    });
  });
}

/** @param from offset of the run's object in `text` */
function toRunMessage(
  text: string,
  run: Record<string, unknown>,
  from: number,
  kind: "post" | "patch",
  id?: string,
): RunMessage {
  const raw: RunMessage["raw"] = {};
  let spans: Map<string, Span> | undefined;
  for (const field of RAW_FIELDS) {
    if (run[field] === undefined || run[field] === null) continue;
    spans ??= rawFields(text, from);
    const { start, end } = spans.get(field)!;
    raw[field] = text.slice(start, end);
  }
  return { kind, id, run, raw };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError(400, "Malformed JSON in request body");
  }
}
