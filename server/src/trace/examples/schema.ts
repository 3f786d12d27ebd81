import { z } from "zod";

import {
  jsonObject,
  queryBoolean,
  queryLimit,
  queryMany,
  queryOffset,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { runMapping } from "../datasets/mapping-schema.ts";
import { queryJson } from "../datasets/schema.ts";

/** Splits of an example, one name or several. Alternatively given in the metadata as `dataset_split`. */
const split = z.union([z.array(z.string().min(1)).max(100), z.string().min(1)]).nullish();

const attachmentsOperations = z.object({
  rename: z.record(z.string(), z.string()).nullish(),
  retain: z.array(z.string()).nullish(),
});

const created = {
  metadata: jsonObject.nullish(),
  split,
  source_run_id: uuid.nullish(),
  use_source_run_io: z.boolean().nullish(),
  /** Heddle's addition: which fields of the source run become the example's. */
  run_mapping: runMapping.nullish(),
  use_source_run_attachments: z.array(z.string()).nullish(),
  created_at: timestamp.nullish(),
};

/** JSON part of an example in a multipart upload; inputs and outputs are separate parts. */
export const createPart = z.object(created);

export const createBody = z
  .object({
    dataset_id: uuid,
    id: uuid.nullish(),
    inputs: jsonObject.nullish(),
    outputs: jsonObject.nullish(),
    ...created,
    use_legacy_message_format: z.literal(false, "is not supported; leave it out").nullish(),
  })
  .meta({ id: "ExampleCreate" });

export const createBulkBody = z.array(createBody).min(1).max(10_000);

/** Null or missing fields stay unchanged. `metadata` replaces everything except the splits. */
const changed = {
  metadata: jsonObject.nullish(),
  split,
  attachments_operations: attachmentsOperations.nullish(),
};

export const updatePart = z.object(changed).omit({ attachments_operations: true });
export const attachmentsPart = attachmentsOperations;

export const updateBody = z
  .object({
    dataset_id: uuid.nullish(),
    inputs: jsonObject.nullish(),
    outputs: jsonObject.nullish(),
    ...changed,
    overwrite: z.literal(false, "is not supported; leave it out").nullish(),
  })
  .meta({ id: "ExampleUpdate" });

export const updateBulkBody = z
  .array(updateBody.extend({ id: uuid }))
  .min(1)
  .max(10_000);

export const example = z
  .object({
    id: z.guid(),
    dataset_id: z.guid(),
    name: z.string(),
    created_at: z.iso.datetime({ offset: true }),
    modified_at: z.iso.datetime({ offset: true }),
    inputs: jsonObject,
    outputs: jsonObject.nullable().optional(),
    metadata: jsonObject.nullable().optional(),
    source_run_id: z.guid().nullable(),
    attachment_urls: z
      .record(z.string(), z.object({ presigned_url: z.string(), mime_type: z.string() }))
      .nullable()
      .optional(),
  })
  .meta({ id: "Example" });

export const exampleParams = z.object({ example_id: uuid });

/** `latest`, a tag, or a time. */
const asOf = z.string().min(1).max(512).optional();

const filter = {
  id: queryMany(uuid),
  dataset: uuid.optional(),
  as_of: asOf,
  metadata: queryJson.optional(),
  full_text_contains: queryMany(z.string().min(1).max(1000), 20),
  splits: queryMany(z.string(), 100),
  filter: z.string().max(10_000).optional(),
};

export const countQuery = z.object(filter);

const selectable = z.enum([
  "id",
  "created_at",
  "modified_at",
  "name",
  "dataset_id",
  "source_run_id",
  "metadata",
  "inputs",
  "outputs",
  "attachment_urls",
]);

export const listQuery = z.object({
  ...filter,
  limit: queryLimit(100),
  offset: queryOffset,
  order: z.enum(["recent", "random", "recently_created", "id"]).default("recent"),
  random_seed: z.string().max(64).optional(),
  descending: queryBoolean,
  select: queryMany(selectable),
  // texts are never stored elsewhere, so they are always inline
  inline_s3_urls: queryBoolean,
});

export const readQuery = z.object({ as_of: asOf, dataset: uuid.optional() });

export const deleteManyQuery = z.object({
  example_ids: z.union([uuid, z.array(uuid).max(1000)]).transform((value) => [value].flat()),
});

export const hardDeleteBody = z
  .object({ example_ids: z.array(uuid).min(1).max(1000), hard_delete: z.boolean().default(false) })
  .meta({ id: "ExamplesDelete" });

export const writtenExamples = z
  .object({
    count: z.int(),
    example_ids: z.array(z.guid()),
    as_of: z.iso.datetime({ offset: true }),
  })
  .meta({ id: "WrittenExamples" });
export const deletedExamples = z.object({ count: z.int(), example_ids: z.array(z.guid()) });

export type ExampleCreate = z.output<typeof createBody>;
export type ExampleUpdate = z.output<typeof updateBody>;
export type AttachmentsOperations = z.output<typeof attachmentsOperations>;
export type ExampleFilter = z.output<typeof countQuery>;
export type ExampleSearch = z.output<typeof listQuery>;
