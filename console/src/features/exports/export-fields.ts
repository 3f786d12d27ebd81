import type { ExportBody } from "./queries.ts";

type Field = NonNullable<ExportBody["export_fields"]>[number];

/** Columns of an export in the order of its files; a name unknown to the server fails to compile. */
const FIELDS: Record<Field, true> = {
  id: true,
  tenant_id: true,
  session_id: true,
  trace_id: true,
  parent_run_id: true,
  parent_run_ids: true,
  reference_example_id: true,
  name: true,
  run_type: true,
  start_time: true,
  end_time: true,
  status: true,
  is_root: true,
  dotted_order: true,
  trace_tier: true,
  inputs: true,
  outputs: true,
  error: true,
  extra: true,
  events: true,
  tags: true,
  feedback_stats: true,
  total_tokens: true,
  prompt_tokens: true,
  completion_tokens: true,
  total_cost: true,
  prompt_cost: true,
  completion_cost: true,
  first_token_time: true,
};

export const EXPORT_FIELDS = Object.keys(FIELDS);
