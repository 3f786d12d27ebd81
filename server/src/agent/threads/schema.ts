import { z } from "zod";

import { jsonObject, limit, minutes, offset, uuid } from "../../base/http/fields.ts";
import { command } from "../runs/schema.ts";
import { extractPaths } from "./extract.ts";

export const threadParams = z.object({ thread_id: uuid });

const strategy = z.enum(["delete", "keep_latest"]);

/**
 * Minutes since the last activity after which the thread expires, and the action then; a bare number means deletion. An
 * explicit null keeps the thread, whatever the project's default is.
 */
const ttl = z
  .union([minutes, z.object({ ttl: minutes, strategy: strategy.nullish() })])
  .nullish()
  .describe("Minutes, or an object with a strategy. Null: the thread never expires.")
  .transform((value): ThreadTtl | undefined => {
    if (value === undefined) return undefined;
    if (value === null) return { minutes: Infinity, strategy: "delete" };
    if (typeof value === "number") return { minutes: value, strategy: "delete" };
    return { minutes: value.ttl, strategy: value.strategy ?? "delete" };
  });
export interface ThreadTtl {
  /** Infinity: does not expire. */
  minutes: number;
  strategy: z.output<typeof strategy>;
}

const status = z.enum(["idle", "busy", "interrupted", "error"]);

export const thread = z
  .looseObject({
    thread_id: z.guid(),
    created_at: z.iso.datetime({ offset: true }),
    updated_at: z.iso.datetime({ offset: true }),
    state_updated_at: z.iso.datetime({ offset: true }),
    metadata: jsonObject,
    status,
    config: jsonObject,
    values: z.unknown(),
    /** Keyed by the id of the interrupted task. */
    interrupts: z.record(z.string(), z.array(z.unknown())),
    error: z.unknown(),
    /** Present only on request; null: does not expire. */
    ttl: z
      .object({
        strategy,
        ttl: z.number().describe("Minutes since the last activity."),
        expires_at: z.iso.datetime({ offset: true }).nullable(),
      })
      .nullish(),
  })
  .meta({ id: "Thread" });

/** `include=ttl`; several values comma-separated, as a JSON array, or repeated. Unknown values are ignored. */
export const getQuery = z.object({
  include: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((value) => [value ?? []].flat().flatMap((names) => names.split(/[\s,"[\]]+/))),
});

const part = z.object({ count: z.int(), bytes: z.int() });

/** Storage used by a thread: bytes as stored, after compression, without indexes. */
export const storage = z
  .object({
    thread_id: z.guid(),
    total_bytes: z.int(),
    checkpoints: part,
    channel_values: part.extend({
      by_channel: z.record(z.string(), z.object({ versions: z.int(), bytes: z.int() })),
    }),
    pending_writes: part,
    runs: part,
    /** Kept frames of its runs' streams. */
    stream_frames: part,
    /** Kept events of protocol v2. */
    protocol_events: part,
  })
  .meta({ id: "ThreadStorage" });

const threadFields = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "context",
  "status",
  "values",
  "interrupts",
  "error",
] as const;

const stateUpdate = z.object({ values: z.unknown(), command, as_node: z.string() });

export const createBody = z
  .object({
    thread_id: uuid.nullish(),
    metadata: jsonObject.nullish(),
    /** Stored as `metadata.graph_id`. */
    graph_id: z.string().nullish(),
    if_exists: z.enum(["raise", "do_nothing"]).nullish(),
    supersteps: z.array(z.object({ updates: z.array(stateUpdate).min(1) })).nullish(),
    ttl,
  })
  .meta({ id: "ThreadCreate" });

export const patchBody = z.object({ metadata: jsonObject.nullish(), ttl }).meta({ id: "ThreadPatch" });

const filter = {
  metadata: jsonObject.nullish(),
  values: jsonObject.nullish(),
  status: status.nullish(),
  ids: z.array(uuid).max(1000).nullish(),
};

export const searchBody = z
  .object({
    ...filter,
    limit: limit(10),
    offset,
    sort_by: z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"]).nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
    select: z.array(z.enum(threadFields)).nullish(),
    extract: extractPaths.nullish(),
  })
  .meta({ id: "ThreadSearch" });

export const countBody = z.object(filter).meta({ id: "ThreadCount" });

export const pruneBody = z.object({
  thread_ids: z.array(uuid).max(10_000),
  strategy: z.enum(["delete", "keep_latest"]).nullish(),
});

export type ThreadCreate = z.output<typeof createBody>;
export type ThreadFilter = z.output<typeof countBody>;
export type ThreadSearch = z.output<typeof searchBody>;
