import { z } from "zod";

import { storableText, uuid } from "../../base/http/fields.ts";

/** Contract: `TagKey`, `TagValue`, `Tagging` and their relatives. */

/** Keys of a workspace, values of a key, and tags of a resource. */
export const MAX_TAGS = 1000;

/** Types of resources that can have tags, which are also the names of their groups in the singular. */
export const RESOURCE_TYPES = [
  "dashboard",
  "dataset",
  "evaluator",
  "experiment",
  "project",
  "prompt",
  "queue",
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** Types of the contract whose resources Heddle does not tag. */
const OTHER_TYPES = ["deployment", "fleet_integration", "mcp_server", "sandbox"] as const;

const resourceType = z.enum([...RESOURCE_TYPES, ...OTHER_TYPES]).transform((type, context) => {
  if ((RESOURCE_TYPES as readonly string[]).includes(type)) return type as ResourceType;
  context.addIssue({ code: "custom", message: `tags of the type "${type}" are not supported` });
  return z.NEVER;
});

/** Text of a key or value: none of the characters that look like another. */
const label = storableText.trim().min(1).max(255);
const description = storableText.max(20_000).nullish();

export const keyCreate = z.object({ key: label, description }).meta({ id: "TagKeyCreate" });
export const keyUpdate = z.object({ key: label.nullish(), description }).meta({ id: "TagKeyUpdate" });
export const valueCreate = z.object({ value: label, description }).meta({ id: "TagValueCreate" });
export const valueUpdate = z.object({ value: label.nullish(), description }).meta({ id: "TagValueUpdate" });

/** A key or a value, by the column of its text. */
export interface Label {
  text?: string | null | undefined;
  description?: string | null | undefined;
}

const resource = { resource_type: resourceType, resource_id: uuid };
export const taggingCreate = z.object({ tag_value_id: uuid, ...resource }).meta({ id: "TaggingCreate" });
export const resourceQuery = z.object(resource);
export const resourcesBody = z.array(z.object(resource)).max(MAX_TAGS);
export type Resource = z.output<typeof resourceQuery>;

export const keyParams = z.object({ tag_key_id: uuid });
export const valueParams = keyParams.extend({ tag_value_id: uuid });
export const taggingParams = z.object({ tagging_id: uuid });
export const taggingsQuery = z.object({ tag_value_id: uuid.optional() });

const time = z.iso.datetime({ offset: true });
const dated = { description: z.string().nullable(), id: z.guid(), created_at: time, updated_at: time };
export const tagKey = z.object({ key: z.string(), ...dated }).meta({ id: "TagKey" });
export const tagValue = z.object({ value: z.string(), tag_key_id: z.guid(), ...dated }).meta({ id: "TagValue" });
export const tagging = z
  .object({
    id: z.guid(),
    tag_value_id: z.guid(),
    resource_type: z.enum(RESOURCE_TYPES),
    resource_id: z.guid(),
    created_at: time,
  })
  .meta({ id: "Tagging" });
export const keyWithValues = tagKey.extend({ values: z.array(tagValue) }).meta({ id: "TagKeyWithValues" });
export const keyWithTaggings = tagKey
  .extend({ values: z.array(tagValue.extend({ taggings: z.array(tagging) })) })
  .meta({ id: "TagKeyWithValuesAndTaggings" });

const tagged = z.object({ tagging_id: z.guid(), resource_name: z.string(), resource_id: z.guid() });
export const taggingsOfValue = z
  .object({
    tag_key: z.string(),
    tag_key_id: z.guid(),
    tag_value: z.string(),
    tag_value_id: z.guid(),
    /** By the plural of the type; only types of which a resource has the tag. */
    resources: z.record(z.string(), z.array(tagged)),
  })
  .meta({ id: "TaggingsResponse" });
