import { AppError, unprocessable } from "../../base/errors.ts";
import { isNestedDeeper } from "../../base/json-structure.ts";
import { isUuid, uuid7 } from "../../base/ids.ts";
import { storableText, wellFormed } from "../../base/well-formed.ts";
import { STOPPED } from "../run-rows/clickhouse.ts";
import { encodePairs, encodeTags } from "../run-rows/pairs.ts";
import { isControlFlow } from "./control-flow.ts";
import { readDottedOrder } from "./dotted-order.ts";
import { createPreview } from "./preview.ts";
import { readFacts, RAW_FIELDS, type RawField, type RunMessage, type RunPiece } from "./run-piece.ts";
import { RUN_TYPES } from "../run-rows/run-types.ts";
import { parseRunTime } from "../run-rows/times.ts";
import { findUsage } from "../prices/usage.ts";

const STATUSES = ["pending", "success", "error", ...STOPPED];

const MAX_NAME = 4096;
const MAX_TAGS = 1000;
const MAX_DEPTH = 500;

/**
 * Validates one create or update and derives its row fields. Null means "no change" everywhere; unknown
 * fields are ignored.
 * @throws AppError 400 for a bad `dotted_order`, 422 otherwise
 */
export function readPiece({ kind, id: named, run, raw, values = {} }: RunMessage, receivedAt: string): RunPiece {
  const id = readId(named, run["id"], kind);
  const position = typeof run["dotted_order"] === "string" ? readDottedOrder(run["dotted_order"], id) : undefined;
  const parent = readUuid(run, "parent_run_id");
  if (parent !== undefined && position !== undefined && position.parent_run_id !== parent) {
    const why =
      position.parent_run_id === undefined ? "dotted_order must contain at least two parts" : "it names another parent";
    throw new AppError(400, `invalid 'dotted_order': ${why}`);
  }
  if ((parent ?? position?.parent_run_id) === id) throw unprocessable("parent_run_id: must not be the run's own id");
  const traceId = readUuid(run, "trace_id");
  if (traceId !== undefined && position !== undefined && position.trace_id !== traceId) {
    throw new AppError(400, "invalid 'dotted_order': its first id must be the trace's");
  }
  const json = readRaw(raw, values);
  const error = readError(json.error);
  const extra = json.extra as Record<string, unknown> | undefined;
  const usage = findUsage(json.outputs, extra && readFacts(extra).metadata);
  const piece: RunPiece = {
    kind,
    id,
    project_id: readUuid(run, "session_id"),
    project_name: readText(run, "session_name", 1024),
    start_time: readTime(run, "start_time") ?? position?.start_time,
    trace_id: traceId ?? position?.trace_id,
    parent_run_id: parent ?? position?.parent_run_id,
    fields: {
      dotted_order: position && (run["dotted_order"] as string),
      name: readText(run, "name", MAX_NAME),
      run_type: readRunType(run),
      end_time: readTime(run, "end_time"),
      status: withError(readStatus(run), error),
      reference_example_id: readUuid(run, "reference_example_id"),
      tags: readTags(run),
      error,
      events: raw.events,
      extra: raw.extra,
      serialized: raw.serialized,
      first_token_time: firstTokenTime(json.events),
      inputs: raw.inputs,
      inputs_preview: raw.inputs && createPreview(json.inputs, raw.inputs),
      input_pairs: raw.inputs && wellFormed(encodePairs(json.inputs)),
      outputs: raw.outputs,
      outputs_preview: raw.outputs && createPreview(json.outputs, raw.outputs),
      output_pairs: raw.outputs && wellFormed(encodePairs(json.outputs)),
    },
    extra,
    usage,
    attachments: [],
    received_at: receivedAt,
  };
  // a root is its own trace
  if (kind === "post" && piece.parent_run_id === undefined) piece.trace_id ??= id;
  return piece;
}

function readId(named: string | undefined, bodyId: unknown, kind: "post" | "patch"): string {
  if (bodyId !== undefined && bodyId !== null && typeof bodyId !== "string") throw unprocessable("id: must be a UUID");
  const own = bodyId ? dashed(bodyId as string) : undefined;
  const outer = named === undefined ? undefined : dashed(named);
  if ((bodyId && own === undefined) || (named !== undefined && outer === undefined))
    throw unprocessable("id: must be a UUID");
  if (own !== undefined && outer !== undefined && own !== outer) throw unprocessable(`id: ${own} is not ${outer}`);
  const id = outer ?? own;
  if (id === undefined && kind === "patch") throw unprocessable("id: required");
  return id ?? uuid7();
}

/** Normalizes to lower case with dashes; 32 digits without dashes are accepted. */
function dashed(text: string): string | undefined {
  const compact = /^[0-9a-f]{32}$/i.test(text)
    ? text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    : text;
  return isUuid(compact) ? compact.toLowerCase() : undefined;
}

/** Clients send a conversation's id under this name. */
const PROJECT = ", the id of a project. The id of a conversation belongs in extra.metadata (thread_id)";

function readUuid(run: Record<string, unknown>, key: string): string | undefined {
  const value = run[key];
  if (value === undefined || value === null || value === "") return undefined;
  const uuid = typeof value === "string" ? dashed(value) : undefined;
  if (uuid === undefined) throw unprocessable(`${key}: must be a UUID${key === "session_id" ? PROJECT : ""}`);
  return uuid;
}

function readText(run: Record<string, unknown>, key: string, max: number): string | undefined {
  const value = run[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw unprocessable(`${key}: must be text`);
  if (value.length > max) throw unprocessable(`${key}: longer than ${max} characters`);
  // Postgres, which stores project names, does not support null characters
  return value === "" ? undefined : storableText(value);
}

function readTime(run: Record<string, unknown>, key: string): string | undefined {
  const value = run[key];
  if (value === undefined || value === null) return undefined;
  const time = parseRunTime(value);
  if (time === undefined) {
    throw unprocessable(`${key}: must be a time as ISO 8601 or in milliseconds since 1970, from 1970 to 2199`);
  }
  return time;
}

function readRunType(run: Record<string, unknown>): string | undefined {
  const value = run["run_type"];
  if (value === undefined || value === null) return undefined;
  const type = RUN_TYPES.find((type) => type === (typeof value === "string" ? value.toLowerCase() : value));
  if (!type) {
    const list = RUN_TYPES.map((type) => `"${type}"`).join(", ");
    throw unprocessable(`schema validation failed: run_type must be one of: ${list}`);
  }
  return type;
}

/** Drops "pending": it is the default, and storing it would hide that the run has ended since. */
function readStatus(run: Record<string, unknown>): string | undefined {
  const value = run["status"];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || !STATUSES.includes(value.toLowerCase())) {
    throw unprocessable(`status: must be one of ${STATUSES.join(", ")}`);
  }
  return value.toLowerCase() === "pending" ? undefined : value.toLowerCase();
}

/** An update can only replace an error, so its status is that of the last one. */
function withError(status: string | undefined, error: string | undefined): string | undefined {
  if (error === undefined) return status;
  if (STOPPED.includes(status)) return status;
  return isControlFlow(error) ? "interrupted" : "error";
}

function readTags(run: Record<string, unknown>): string | undefined {
  const value = run["tags"];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length > MAX_TAGS || !value.every((tag) => typeof tag === "string")) {
    throw unprocessable(`tags: must be a list of at most ${MAX_TAGS} texts`);
  }
  return wellFormed(encodeTags(value as string[]));
}

/** Parses and thereby validates each text that is not parsed yet, and removes nulls from `raw`. */
function readRaw(
  raw: RunMessage["raw"],
  values: NonNullable<RunMessage["values"]>,
): Partial<Record<RawField, unknown>> {
  const json: Partial<Record<RawField, unknown>> = {};
  for (const field of RAW_FIELDS) {
    const text = raw[field];
    if (text === undefined) continue;
    const value = values[field] === undefined ? parse(field, text) : values[field];
    if (value === null) delete raw[field];
    else json[field] = value;
  }
  for (const field of ["extra", "serialized"] as const) {
    const value = json[field];
    if (value !== undefined && (typeof value !== "object" || Array.isArray(value))) {
      throw unprocessable(`${field}: must be an object`);
    }
  }
  for (const field of ["extra", "error"] as const) {
    if (isNestedDeeper(raw[field] ?? "", MAX_DEPTH))
      throw unprocessable(`${field}: nested more than ${MAX_DEPTH} deep`);
  }
  if (json.events !== undefined && !Array.isArray(json.events)) throw unprocessable("events: must be a list");
  return json;
}

function parse(field: RawField, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unprocessable(`${field}: malformed JSON`);
  }
}

function readError(error: unknown): string | undefined {
  if (error === undefined || error === "") return undefined;
  return wellFormed(typeof error === "string" ? error : JSON.stringify(error));
}

/** Returns the time of the first `new_token` event. */
function firstTokenTime(events: unknown): string | undefined {
  if (!Array.isArray(events)) return undefined;
  const first = (events as ({ name?: unknown; time?: unknown } | null)[]).find((event) => event?.name === "new_token");
  return first ? parseRunTime(first.time) : undefined;
}
