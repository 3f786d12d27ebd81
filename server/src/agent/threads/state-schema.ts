import { z } from "zod";

import { jsonObject, limit, queryFlag, queryLimit, uuid } from "../../base/http/fields.ts";
import { parseJson } from "../../base/json-structure.ts";
import { threadParams } from "./schema.ts";

const checkpointAddress = z
  .looseObject({
    thread_id: z.string(),
    checkpoint_id: z.string(),
    checkpoint_ns: z.string(),
    checkpoint_map: jsonObject.nullish(),
  })
  .meta({ id: "Checkpoint" });

export const threadState = z
  .looseObject({
    values: z.unknown(),
    next: z.array(z.string()),
    tasks: z.array(jsonObject),
    metadata: jsonObject.optional(),
    created_at: z.string().nullable(),
    checkpoint: checkpointAddress.nullable(),
    parent_checkpoint: checkpointAddress.nullable(),
    checkpoint_id: z.string().nullish(),
    parent_checkpoint_id: z.string().nullish(),
    interrupts: z.array(z.unknown()).optional(),
  })
  .meta({ id: "ThreadState" });

export const updatedState = z.object({ checkpoint: checkpointAddress });

const stateFields = [
  "values",
  "next",
  "tasks",
  "metadata",
  "created_at",
  "checkpoint",
  "parent_checkpoint",
  "checkpoint_id",
  "parent_checkpoint_id",
  "interrupts",
] as const;

const stateField = z
  .string()
  .refine((name) => (stateFields as readonly string[]).includes(name) || /^values\../.test(name), {
    message: `must be one of ${stateFields.join(", ")}, or values.<key>`,
  });

/** In a query string: a JSON array, or a repeated parameter. */
const querySelect = z
  .union([z.string(), z.array(z.string())])
  .transform((value, context) => {
    if (typeof value !== "string" || !value.startsWith("[")) return [value].flat();
    try {
      return parseJson(value);
    } catch {
      context.addIssue("must be a JSON array of names");
      return z.NEVER;
    }
  })
  .pipe(z.array(stateField))
  .optional();

const checkpointRef = z
  .object({ checkpoint_id: uuid.nullish(), checkpoint_ns: z.string().nullish(), checkpoint_map: jsonObject.nullish() })
  .transform(({ checkpoint_id, checkpoint_ns, checkpoint_map }) => ({
    ...(checkpoint_id && { checkpoint_id }),
    ...(checkpoint_ns && { checkpoint_ns }),
    ...(checkpoint_map && { checkpoint_map: checkpoint_map as Record<string, string> }),
  }));

/** `before` in the forms that clients have used over time: an id, a checkpoint, a config that contains one. */
const before = z.union([
  uuid.transform((checkpoint_id) => ({ checkpoint_id })),
  z.object({ configurable: checkpointRef }).transform(({ configurable }) => configurable),
  checkpointRef,
]);

export const stateQuery = z.object({ subgraphs: queryFlag, select: querySelect });

export const checkpointParams = threadParams.extend({ checkpoint_id: uuid });

export const checkpointBody = z.object({
  checkpoint: checkpointRef.nullish(),
  /** A boolean, or its query string form. */
  subgraphs: z.union([z.boolean(), queryFlag]).nullish(),
  select: z.array(stateField).nullish(),
});

const updateValues = z.union([jsonObject, z.array(z.unknown()), z.null()]);

export const updateBody = z
  .object({
    values: updateValues.optional(),
    as_node: z.string().nullish(),
    checkpoint_id: uuid.nullish(),
    checkpoint: checkpointRef.nullish(),
  })
  .meta({ id: "ThreadStateUpdate" });

export const historyQuery = z.object({ limit: queryLimit(10), before: uuid.optional() });

export const historyBody = z
  .object({
    limit: limit(10),
    before: before.nullish(),
    metadata: jsonObject.nullish(),
    checkpoint: checkpointRef.nullish(),
  })
  .meta({ id: "ThreadStateSearch" });

export type StateUpdate = z.output<typeof updateBody>;
