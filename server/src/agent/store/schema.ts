import { z } from "zod";

import { jsonObject, limit, minutes, offset, queryBoolean, storableText } from "../../base/http/fields.ts";
import { parsePath } from "./text-at-path.ts";

/** A path, outermost label first. */
const label = storableText.refine((text) => text !== "" && !text.includes("."), {
  error: ({ input }) => `Namespace labels cannot be empty or contain periods. Received: ${String(input)}`,
});
const prefix = z.array(storableText).max(64);

export const item = z
  .object({
    namespace: z.array(z.string()),
    key: z.string(),
    value: jsonObject,
    created_at: z.iso.datetime({ offset: true }),
    updated_at: z.iso.datetime({ offset: true }),
    /** Similarity from -1 to 1, in the results of a semantic search. */
    score: z.number().optional(),
  })
  .meta({ id: "Item" });

/** Path of a part of the value that is embedded. */
const indexPath = storableText.refine(isPath, "must be a path such as title, sections[*].text or $");

function isPath(text: string): boolean {
  try {
    return parsePath(text) !== undefined;
  } catch {
    return false;
  }
}

export const putBody = z
  .object({
    namespace: z.array(label).max(64),
    key: storableText,
    value: jsonObject,
    index: z
      .union([z.literal(false), z.array(indexPath).min(1).max(64), z.null()], "must be false or a list of paths")
      .optional()
      .describe("Paths that semantic search indexes instead of store.index.fields; false: not indexed."),
    ttl: minutes
      .nullish()
      .describe("Minutes until the item expires; null: never; absent: store.ttl.default_ttl applies."),
  })
  .meta({ id: "ItemPut" });

export const getQuery = z.object({
  namespace: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((value) => (Array.isArray(value) ? value : (value ?? "").split(".").filter((text) => text !== ""))),
  key: z.string(),
  refresh_ttl: queryBoolean.describe(
    "Whether reading restarts the time to live; absent: store.ttl.refresh_on_read applies.",
  ),
});

export const deleteBody = z.object({ namespace: prefix.nullish(), key: storableText });

export const searchBody = z
  .object({
    namespace_prefix: prefix.nullish(),
    filter: jsonObject.nullish(),
    limit: limit(10),
    offset,
    query: z
      .string()
      .max(100_000)
      .nullish()
      .describe("Search by semantic similarity instead of by time; requires store.index."),
    refresh_ttl: z.boolean().nullish(),
  })
  .meta({ id: "ItemSearch" });

export const namespacesBody = z.object({
  prefix: prefix.nullish(),
  suffix: prefix.nullish(),
  max_depth: z.int().min(1).max(64).nullish(),
  limit: limit(100),
  offset,
});
