import { z } from "zod";

import { jsonObject, limit, notBuilt, offset, storableText } from "../../base/http/fields.ts";

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
  })
  .meta({ id: "Item" });

export const putBody = z
  .object({
    namespace: z.array(label).max(64),
    key: storableText,
    value: jsonObject,
    /** Semantic search is not built yet, so only `false`, nothing to be indexed, can be kept. */
    index: z
      .union([z.literal(false), z.null()], '"index" can only be false or null: semantic search is not supported yet')
      .optional(),
    ttl: notBuilt("ttl"),
  })
  .meta({ id: "ItemPut" });

/** `refresh_ttl` needs no refusal: no item has a time to live that reading could refresh. */
export const getQuery = z.object({
  namespace: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((given) => (Array.isArray(given) ? given : (given ?? "").split(".").filter((text) => text !== ""))),
  key: z.string(),
});

export const deleteBody = z.object({ namespace: prefix.nullish(), key: storableText });

export const searchBody = z
  .object({
    namespace_prefix: prefix.nullish(),
    filter: jsonObject.nullish(),
    limit: limit(10),
    offset,
    query: notBuilt("query"),
  })
  .meta({ id: "ItemSearch" });

export const namespacesBody = z.object({
  prefix: prefix.nullish(),
  suffix: prefix.nullish(),
  max_depth: z.int().min(1).max(64).nullish(),
  limit: limit(100),
  offset,
});
