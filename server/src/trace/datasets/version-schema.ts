import { z } from "zod";

import { isoTime, queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

export const version = z
  .object({ as_of: z.iso.datetime({ offset: true }), tags: z.array(z.string()) })
  .meta({ id: "DatasetVersion" });

export const listVersionsQuery = z.object({
  search: z.string().optional(),
  example: uuid.optional(),
  limit: queryLimit(100),
  offset: queryOffset,
});

export const versionQuery = z
  .object({ as_of: isoTime.optional(), tag: z.string().optional() })
  .refine(({ as_of, tag }) => (as_of === undefined) !== (tag === undefined), "set either as_of or tag");

export const diffQuery = z.object({ from_version: z.string().min(1), to_version: z.string().min(1) });

export const diff = z.object({
  examples_added: z.array(z.guid()),
  examples_removed: z.array(z.guid()),
  examples_modified: z.array(z.guid()),
});

export const tagBody = z.object({
  as_of: z.string().min(1),
  // a tag that looks like a time would be ambiguous
  tag: storableText
    .min(1)
    .max(256)
    .refine((tag) => tag !== "latest" && !isoTime.safeParse(tag).success, "is a reserved word"),
});
