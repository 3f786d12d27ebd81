import { AppError } from "../../base/errors.ts";
import { ownText } from "../../base/own-text.ts";
import { storableText } from "../../base/well-formed.ts";
import { type Model, NAME_KEYS } from "../prices/model-prices.ts";
import type { Usage } from "../prices/usage.ts";
import type { RunRow } from "../run-rows/clickhouse.ts";
import { THREAD_KEYS } from "../run-rows/pairs.ts";

/** More than SDKs and collectors send at once. Each takes some kilobytes until it is stored, however small it is. */
export const MAX_RUNS = 50_000;
/** Memory of a run besides its texts, in bytes. */
export const RUN_BYTES = 2048;

export const tooManyRuns = (): AppError =>
  new AppError(413, `A request can have at most ${MAX_RUNS} runs. Send fewer.`);

/** Fields that may be sent beside a run's object and are stored as the JSON text received. */
export const RAW_FIELDS = ["inputs", "outputs", "events", "extra", "error", "serialized"] as const;
export type RawField = (typeof RAW_FIELDS)[number];

/** Create or update as received: the run's object, and the text of the fields kept as text. */
export interface RunMessage {
  kind: "post" | "patch";
  /** Id from the path or the part's name; an id in the object must be equal. */
  id: string | undefined;
  run: Record<string, unknown>;
  raw: Partial<Record<RawField, string>>;
  /** Values of these fields, where they were parsed with the run's object. */
  values?: Partial<Record<RawField, unknown>>;
}

/**
 * Validated create or update with all values derived from it alone. It can be stored as JSON, because updates of
 * unknown runs wait in Postgres.
 */
export interface RunPiece {
  kind: "post" | "patch";
  id: string;
  project_id?: string | undefined;
  project_name?: string | undefined;
  /** `YYYY-MM-DD hh:mm:ss.ffffff`. A create's value takes precedence over an update's. */
  start_time?: string | undefined;
  trace_id?: string | undefined;
  parent_run_id?: string | undefined;
  /** Fields copied to the row unchanged. */
  fields: Omit<Partial<RunRow>, "tenant_id" | "project_id" | "start_time" | "id" | "trace_id" | "updated_at">;
  /** Complete `extra`, since it may have to be merged with the stored one. */
  extra?: Record<string, unknown> | undefined;
  usage?: Usage | undefined;
  attachments: Attachment[];
  received_at: string;
}

export interface Attachment {
  name: string;
  mime_type: string;
  size: number;
  /** Key in the blob store. */
  blob: string;
}

/** Values derived from `extra`. */
export interface ExtraFacts {
  metadata: Record<string, unknown>;
  thread_id: string | undefined;
  model: Model | undefined;
}

export function readFacts(extra: Record<string, unknown>): ExtraFacts {
  const sentMetadata = extra["metadata"];
  const metadata = isRecord(sentMetadata) ? sentMetadata : {};
  return { metadata, thread_id: readThreadId(metadata), model: readModel(metadata, extra) };
}

/** Returns the first of these keys in this order. Heads of traces and rules keep it in Postgres. */
function readThreadId(metadata: Record<string, unknown>): string | undefined {
  for (const key of THREAD_KEYS) {
    const value = metadata[key];
    if (typeof value === "string" && value !== "") return storableText(value);
    if (typeof value === "number") return String(value);
  }
  return undefined;
}

/** Reads the model from `ls_model_name`, else from the first of the keys that name it. */
function readModel(metadata: Record<string, unknown>, extra: Record<string, unknown>): Model | undefined {
  const params = extra["invocation_params"];
  const invocation = isRecord(params) ? params : {};
  const text = (value: unknown) =>
    typeof value === "string" && value !== "" ? ownText(value.slice(0, 250)) : undefined;
  const names: Record<string, string> = {};
  for (const key of NAME_KEYS) {
    const value = text(invocation[key]) ?? text(metadata[key]);
    if (value !== undefined) names[key] = value;
  }
  const name = text(metadata["ls_model_name"]) ?? Object.values(names)[0];
  if (name === undefined) return undefined;
  const others = Object.values(names).some((value) => value !== name) ? names : undefined;
  return { name, provider: text(metadata["ls_provider"]) ?? "", ...(others && { names: others }) };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
