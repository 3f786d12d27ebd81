import { z } from "zod";

import {
  jsonObject,
  notBuilt,
  queryBoolean,
  queryLimit,
  queryMany,
  queryOffset,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { parseJson } from "../../base/json-structure.ts";
import { transformation } from "./mapping-schema.ts";

export const dataType = z.enum(["kv", "llm", "chat"]);

const name = storableText.min(1).max(512);
const description = storableText.max(100_000).nullish();

/** Applied to examples that are taken from runs. */
const transformations = z.array(transformation).max(50).nullish();

export const createBody = z
  .object({
    id: uuid.nullish(),
    name,
    description,
    data_type: dataType.nullish(),
    created_at: timestamp.nullish(),
    inputs_schema_definition: jsonObject.nullish(),
    outputs_schema_definition: jsonObject.nullish(),
    extra: z.looseObject({ metadata: jsonObject.nullish() }).nullish(),
    metadata: jsonObject.nullish(),
    externally_managed: z.boolean().nullish(),
    transformations,
    tag_value_ids: z.array(uuid).max(100).nullish(),
  })
  .meta({ id: "DatasetCreate" });

/** Missing fields stay unchanged, as do those that the Python SDK marks as missing; null clears a field. */
const missing = z.object({ __missing__: z.string() }).transform(() => undefined);

export const patchBody = z
  .object({
    name: z.union([name, missing]).optional(),
    description: z.union([description, missing]).optional(),
    inputs_schema_definition: z.union([missing, jsonObject, z.null()]).optional(),
    outputs_schema_definition: z.union([missing, jsonObject, z.null()]).optional(),
    metadata: z.union([missing, jsonObject, z.null()]).optional(),
    baseline_experiment_id: z.union([uuid, missing, z.null()]).optional(),
    transformations: z.union([missing, transformations]).optional(),
    patch_examples: notBuilt("patch_examples"),
  })
  .meta({ id: "DatasetUpdate" });

export const dataset = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    name: z.string(),
    description: z.string().nullable(),
    data_type: dataType,
    created_at: z.iso.datetime({ offset: true }),
    modified_at: z.iso.datetime({ offset: true }),
    example_count: z.int().optional(),
    session_count: z.int(),
    last_session_start_time: z.iso.datetime({ offset: true }).nullable(),
    inputs_schema_definition: jsonObject.nullable(),
    outputs_schema_definition: jsonObject.nullable(),
    externally_managed: z.boolean(),
    transformations: z.array(transformation).nullable(),
    metadata: jsonObject.nullable(),
    baseline_experiment_id: z.guid().nullable(),
  })
  .meta({ id: "Dataset" });

export const datasetParams = z.object({ dataset_id: uuid });

/** JSON object in a query string. */
export const queryJson = z.string().transform((text, context) => {
  try {
    const parsed = parseJson(text);
    if (parsed !== null && typeof parsed === "object" && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // reported below
  }
  context.addIssue("must be a JSON object");
  return z.NEVER;
});

export const listQuery = z.object({
  id: queryMany(uuid),
  name: z.string().optional(),
  name_contains: z.string().optional(),
  data_type: queryMany(dataType),
  metadata: queryJson.optional(),
  sort_by: z
    .enum(["name", "created_at", "last_session_start_time", "example_count", "session_count", "modified_at"])
    .default("last_session_start_time"),
  sort_by_desc: queryBoolean,
  exclude: queryMany(z.literal("example_count")),
  tag_value_id: queryMany(uuid, 100),
  // there are no datasets of corrections
  exclude_corrections_datasets: queryBoolean,
  limit: queryLimit(100),
  offset: queryOffset,
});

export const deleteManyQuery = z.object({
  dataset_ids: z.union([uuid, z.array(uuid).max(100)]).transform((value) => [value].flat()),
});

export const deleted = z.object({ message: z.string() });

export type DatasetCreate = z.output<typeof createBody>;
export type DatasetPatch = z.output<typeof patchBody>;
export type DatasetSearch = z.output<typeof listQuery>;
