import {
  ALWAYS,
  appPath,
  constant,
  consumed,
  field,
  isUpgraded,
  naive,
  parentIds,
  plain,
  type SerializationContext,
  rawJsonColumn,
  type RunField,
  tagList,
  effectiveTier,
  timeColumn,
  ttlSeconds,
} from "./run-fields.ts";
import { conversation } from "./messages.ts";
import type { AttachmentLink, Lookup, Related } from "./related.ts";
import { type Row, STATUS_COLUMN } from "./select-page.ts";

const text = (value: unknown): string => JSON.stringify(value ?? null);
const nothing = constant("null");

const tokens = (name: "total_tokens" | "prompt_tokens" | "completion_tokens"): RunField =>
  field([`r.${name}`], (row, related) => text(consumed(row, related, name) ?? 0), ["totals"]);
const cost = (name: "total_cost" | "prompt_cost" | "completion_cost"): RunField =>
  field([`r.${name}`], (row, related) => text(consumed(row, related, name)), ["totals"]);

/** Fields of a run in v1, by the name that selects them (contract §3.1, §3.3). */
const FIELDS = {
  id: plain("id"),
  name: field(["r.name"], (row) => text(row.name ?? "")),
  run_type: field(["r.run_type"], (row) => text(row.run_type ?? "chain")),
  start_time: timeColumn("start_time", naive),
  end_time: timeColumn("end_time", naive),
  status: field([STATUS_COLUMN], (row) => text(row["run_status"])),
  error: plain("error"),
  extra: rawJsonColumn("extra"),
  events: rawJsonColumn("events"),
  inputs: rawJsonColumn("inputs"),
  outputs: rawJsonColumn("outputs"),
  inputs_preview: plain("inputs_preview"),
  outputs_preview: plain("outputs_preview"),
  serialized: rawJsonColumn("serialized"),
  parent_run_id: plain("parent_run_id"),
  parent_run_ids: field(["r.dotted_order"], (row) => text(parentIds(row))),
  child_run_ids: field(["r.dotted_order"], (row, { children }) => text(ids(children?.get(row.id))), ["children"]),
  direct_child_run_ids: field(
    ["r.dotted_order"],
    (row, { children }) => text(ids(children?.get(row.id)?.filter((child) => child.isDirect))),
    ["children"],
  ),
  manifest_id: nothing,
  manifest_s3_id: nothing,
  manifest: rawJsonColumn("serialized"),
  session_id: field([], (row) => text(row.project_id)),
  trace_id: plain("trace_id"),
  dotted_order: field(["r.dotted_order"], (row) => text(row.dotted_order ?? "")),
  thread_id: plain("thread_id"),
  tags: field(["r.tags"], (row) => text(tagList(row))),
  reference_example_id: plain("reference_example_id"),
  reference_dataset_id: field(
    ["r.reference_example_id"],
    (row, { datasets }) => text(datasets?.get(row.reference_example_id ?? "")),
    ["datasets"],
  ),
  total_tokens: tokens("total_tokens"),
  prompt_tokens: tokens("prompt_tokens"),
  completion_tokens: tokens("completion_tokens"),
  prompt_token_details: rawJsonColumn("prompt_token_details"),
  completion_token_details: rawJsonColumn("completion_token_details"),
  total_cost: cost("total_cost"),
  prompt_cost: cost("prompt_cost"),
  completion_cost: cost("completion_cost"),
  prompt_cost_details: rawJsonColumn("prompt_cost_details"),
  completion_cost_details: rawJsonColumn("completion_cost_details"),
  price_model_id: plain("price_model_id"),
  cost_basis: rawJsonColumn("cost_basis"),
  first_token_time: timeColumn("first_token_time", naive),
  last_queued_at: nothing,
  feedback_stats: field([], (row, { feedback }) => text(feedback?.get(row.id)), ["feedback"]),
  in_dataset: field([], (row, { inDataset }) => text(inDataset?.has(row.id) ?? false), ["inDataset"]),
  app_path: field([], (row, _, context) => text(appPath(row, context.tenantId))),
  share_token: field([], (row, { shares }) => text(shares?.get({ ...row, trace_id: row.trace_id! })), ["shares"]),
  trace_tier: field(["r.trace_tier"], (row, related, context) => text(effectiveTier(row, related, context)), ["tiers"]),
  trace_first_received_at: timeColumn("inserted_at", naive),
  ttl_seconds: field(["r.trace_tier"], (row, related, context) => text(ttlSeconds(row, related, context)), ["tiers"]),
  trace_upgrade: field(["r.trace_tier"], (row, related, context) => text(isUpgraded(row, related, context)), ["tiers"]),
  trace_min_start_time: field([], (row, { bounds }) => text(bounds?.get(row.trace_id!)?.first.replace(" ", "T")), [
    "bounds",
  ]),
  trace_max_start_time: field([], (row, { bounds }) => text(bounds?.get(row.trace_id!)?.last.replace(" ", "T")), [
    "bounds",
  ]),
  execution_order: constant("1"),
  is_provisional_root: field([], (row) => text(row.provisional_root === true)),
  inserted_at: timeColumn("inserted_at", naive),
  messages: field(["r.inputs", "r.outputs"], (row) => text(conversation(row.inputs, row.outputs))),
  inputs_s3_urls: nothing,
  outputs_s3_urls: nothing,
  s3_urls: field([], (row, { attachments }, { apiBase }) => text(attachmentUrls(attachments?.get(row.id), apiBase)), [
    "attachments",
  ]),
} satisfies Record<string, RunField>;

export type FieldV1 = keyof typeof FIELDS;

const ids = (children: { id: string }[] | undefined): string[] => (children ?? []).map((child) => child.id);

/** Formats attachments as the clients expect: `{"attachment.<name>": {presigned_url, mime_type}}` (contract §1.9). */
function attachmentUrls(links: readonly AttachmentLink[] | undefined, apiBase: string): Record<string, object> | null {
  if (!links) return null;
  const entries = links.map(({ name, path, mime_type }) => [
    `attachment.${name}`,
    { presigned_url: apiBase + path, mime_type },
  ]);
  return Object.fromEntries(entries) as Record<string, object>;
}

/** Fields of every run, selected or not: the clients' models require them (contract §3.1). */
const REQUIRED: FieldV1[] = [
  "id",
  "name",
  "run_type",
  "start_time",
  "trace_id",
  "dotted_order",
  "status",
  "session_id",
  "app_path",
];

/** Returns the plan for shared runs, without their location in the workspace. */
export const planShared = (): SerializationPlan =>
  planV1(SHARED, { required: REQUIRED.filter((name) => name !== "session_id" && name !== "app_path") });

const SHARED = `end_time error extra events inputs outputs inputs_preview outputs_preview parent_run_id parent_run_ids
  serialized total_tokens prompt_tokens completion_tokens total_cost prompt_cost completion_cost first_token_time
  feedback_stats tags thread_id s3_urls`.split(/\s+/);

/** Fields sent without a selection. */
const DEFAULT = [
  ...`end_time error extra events inputs outputs parent_run_id parent_run_ids manifest_id manifest_s3_id serialized
  reference_example_id reference_dataset_id total_tokens prompt_tokens prompt_token_details completion_tokens
  completion_token_details total_cost prompt_cost prompt_cost_details completion_cost completion_cost_details
  price_model_id cost_basis first_token_time last_queued_at feedback_stats tags in_dataset share_token trace_tier
  trace_first_received_at ttl_seconds trace_upgrade thread_id execution_order is_provisional_root`.split(/\s+/),
] as FieldV1[];

/** Fields sent without a selection, except metadata and runtime; and except statistics of feedback. */
export const WITHOUT_EXTRA: readonly FieldV1[] = DEFAULT.filter((name) => name !== "extra");
export const WITHOUT_STATS: readonly FieldV1[] = DEFAULT.filter((name) => name !== "feedback_stats");

/**
 * Fields of every run of a query, selected or not. Clients select neither, but read both: Python's `list_runs()` takes
 * attachments from `s3_urls`, and `Run` the details of its usage.
 */
export const UNSELECTED = [
  "s3_urls",
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
] as const;

/** Selectable names that stand for several fields, or for another one. */
const SYNONYMS: Record<string, FieldV1[]> = {
  trace_min_max_start_time: ["trace_min_start_time", "trace_max_start_time"],
  inputs_or_signed_url: ["inputs"],
  outputs_or_signed_url: ["outputs"],
  events_or_signed_url: ["events"],
  extra_or_signed_url: ["extra"],
  serialized_or_signed_url: ["serialized"],
  error_or_signed_url: ["error"],
  manifest_or_signed_url: ["manifest"],
};

export const SELECTABLE_V1 = [...Object.keys(FIELDS), ...Object.keys(SYNONYMS)];

export interface SerializationPlan {
  columns: string[];
  lookups: Set<Lookup>;
  print(row: Row, related: Partial<Related>, context: SerializationContext): string;
}

/** Plans the columns to read for these fields, and the serialization of a run with them. */
export function planV1(
  selected: readonly string[] | undefined,
  { more = [], required = REQUIRED }: { more?: readonly string[]; required?: readonly FieldV1[] } = {},
): SerializationPlan {
  const selectedFields = [...(selected ?? DEFAULT), ...more].flatMap((name) => SYNONYMS[name] ?? [name as FieldV1]);
  const names = [...new Set([...required, ...selectedFields])];
  const fields = names.map((name): [string, RunField] => [`${JSON.stringify(name)}:`, FIELDS[name]]);
  return {
    columns: [...new Set([...ALWAYS, ...fields.flatMap(([, field]) => field.columns)])],
    lookups: new Set(fields.flatMap(([, field]) => field.lookups)),
    print: (row, related, context) =>
      `{${fields.map(([name, field]) => name + field.print(row, related, context)).join(",")}}`,
  };
}
