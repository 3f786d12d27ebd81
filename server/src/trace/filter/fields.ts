/** Names available in an expression about runs. docs/filter-language.md has the same table with explanations. */

/**
 * `text` compares as text. `json` is the text of a JSON value, which supports only presence tests and searches.
 * `duration` is in seconds.
 */
export type FieldType = "text" | "uuid" | "number" | "time" | "duration" | "flag" | "json" | "tags" | "metadata";

/** Single-valued field; `nullable` when a run may have no value. */
export interface Field {
  name: string;
  type: FieldType;
  nullable: boolean;
}

/**
 * Part of a multi-valued field, which a run has in pairs: `and(eq(metadata_key, "k"), eq(metadata_value, "v"))` refers
 * to one pair. A feedback is such a pair with more than two parts.
 */
export interface Part {
  family: Family;
  part: PartName;
  type: "text" | "number" | "uuid" | "time";
  nullable: boolean;
}

export type Family = "metadata" | "input" | "output" | "feedback";
export type PartName = "key" | "value" | "score" | "comment" | "source" | "id" | "created_at";

const field = (type: FieldType, nullable: "always there" | "may be null") => ({
  type,
  nullable: nullable === "may be null",
});

const RUN_FIELDS: Record<string, { type: FieldType; nullable: boolean }> = {
  id: field("uuid", "always there"),
  trace_id: field("uuid", "always there"),
  session_id: field("uuid", "always there"),
  parent_run_id: field("uuid", "may be null"),
  reference_example_id: field("uuid", "may be null"),
  name: field("text", "always there"),
  run_type: field("text", "always there"),
  status: field("text", "always there"),
  error: field("text", "may be null"),
  thread_id: field("text", "may be null"),
  dotted_order: field("text", "always there"),
  trace_tier: field("text", "may be null"),
  start_time: field("time", "always there"),
  end_time: field("time", "may be null"),
  first_token_time: field("time", "may be null"),
  latency: field("duration", "may be null"),
  // unknown counts compare as 0, as they are serialized
  total_tokens: field("number", "may be null"),
  prompt_tokens: field("number", "may be null"),
  completion_tokens: field("number", "may be null"),
  total_cost: field("number", "may be null"),
  prompt_cost: field("number", "may be null"),
  completion_cost: field("number", "may be null"),
  is_root: field("flag", "always there"),
  inputs: field("json", "may be null"),
  outputs: field("json", "may be null"),
  extra: field("json", "may be null"),
  tags: field("tags", "always there"),
  metadata: field("metadata", "always there"),
};

const part = (family: Family, name: PartName, type: Part["type"] = "text", nullable = false): Part => ({
  family,
  part: name,
  type,
  nullable,
});

const RUN_PARTS: Record<string, Part> = {
  metadata_key: part("metadata", "key"),
  metadata_value: part("metadata", "value"),
  input_key: part("input", "key"),
  input_value: part("input", "value"),
  output_key: part("output", "key"),
  output_value: part("output", "value"),
  feedback_id: part("feedback", "id", "uuid"),
  feedback_key: part("feedback", "key"),
  feedback_score: part("feedback", "score", "number", true),
  feedback_value: part("feedback", "value", "text", true),
  feedback_comment: part("feedback", "comment", "text", true),
  feedback_source: part("feedback", "source", "text", true),
  feedback_created_at: part("feedback", "created_at", "time"),
};

/** Returns the field with that name, or undefined. */
export function findField(name: string): Field | undefined {
  return Object.hasOwn(RUN_FIELDS, name) ? { name, ...RUN_FIELDS[name]! } : undefined;
}

export function findPart(name: string): Part | undefined {
  return Object.hasOwn(RUN_PARTS, name) ? RUN_PARTS[name] : undefined;
}

export const FIELD_NAMES = [...Object.keys(RUN_FIELDS), ...Object.keys(RUN_PARTS)];
