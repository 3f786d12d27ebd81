import { z } from "zod";

import { jsonObject, limit, offset, queryFlag, uuid } from "../../base/http/fields.ts";
import { runConfig } from "../runs/schema.ts";

/** An assistant's id, or a graph's id for its default assistant. */
export const assistantParams = z.object({ assistant_id: z.string() });

export const assistant = z
  .looseObject({
    assistant_id: z.guid(),
    graph_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    config: jsonObject.nullable(),
    context: z.unknown(),
    metadata: jsonObject,
    version: z.int(),
    created_at: z.iso.datetime({ offset: true }),
    updated_at: z.iso.datetime({ offset: true }),
  })
  .meta({ id: "Assistant" });

export const assistantVersion = assistant.omit({ updated_at: true }).meta({ id: "AssistantVersion" });

const assistantFields = [
  "assistant_id",
  "graph_id",
  "name",
  "description",
  "config",
  "context",
  "metadata",
  "version",
  "created_at",
  "updated_at",
] as const;

const metadata = jsonObject.nullish().transform((value) => value ?? {});

export const createBody = z
  .object({
    graph_id: z.string(),
    assistant_id: uuid.nullish(),
    config: runConfig.nullable().default({}),
    context: z.unknown().default({}),
    metadata,
    if_exists: z.enum(["raise", "do_nothing"]).nullish(),
    name: z.string().nullish(),
    description: z.string().nullish(),
  })
  .meta({ id: "AssistantCreate" });

/** Missing keys keep their value; null clears fields that are nullable on the wire. */
export const patchBody = z
  .object({
    graph_id: z.string().nullish(),
    config: runConfig.nullable().optional(),
    context: z.unknown().optional(),
    metadata: jsonObject.nullish(),
    name: z.string().nullish(),
    description: z.string().nullish(),
  })
  .meta({ id: "AssistantPatch" });

const filter = { metadata: jsonObject.nullish(), graph_id: z.string().nullish(), name: z.string().nullish() };

export const searchBody = z
  .object({
    ...filter,
    limit: limit(10),
    offset: offset,
    sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
    select: z.array(z.enum(assistantFields)).nullish(),
  })
  .meta({ id: "AssistantSearch" });

export const countBody = z.object(filter).meta({ id: "AssistantCount" });

export const versionsBody = z.object({ metadata: jsonObject.nullish(), limit: limit(10), offset: offset });

export const latestBody = z.object({ version: z.int().min(1).max(2_147_483_647) });

export const deleteQuery = z.object({ delete_threads: queryFlag });

/** `true`, `1` or `yes` expand all subgraphs; a larger number is the depth. */
export const drawingQuery = z.object({
  xray: z
    .string()
    .optional()
    .transform((text = "") => (/^[2-9]$|^[1-9]\d{1,2}$/.test(text) ? Number(text) : /^(true|1|yes)$/i.test(text))),
});

export const subgraphsParams = assistantParams.extend({ namespace: z.string() });
export const subgraphsQuery = z.object({ recurse: queryFlag });

export type AssistantCreate = z.output<typeof createBody>;
export type AssistantFilter = z.output<typeof countBody>;
export type AssistantSearch = z.output<typeof searchBody>;
export type VersionSearch = z.output<typeof versionsBody>;
