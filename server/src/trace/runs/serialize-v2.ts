import type { AttachmentLink } from "./related.ts";
import { STATUS_COLUMN } from "./select-page.ts";
import type { SerializationPlan } from "./serialize-v1.ts";
import { RUN_LATENCY } from "../run-rows/clickhouse.ts";
import {
  ALWAYS,
  appPath,
  consumed,
  field,
  parentIds,
  plain,
  rawJsonColumn,
  type RunField,
  tagList,
  timeColumn,
  zulu,
} from "./run-fields.ts";

const text = (value: unknown): string => JSON.stringify(value ?? null);

type Summed = "total_tokens" | "prompt_tokens" | "completion_tokens" | "total_cost" | "prompt_cost" | "completion_cost";

/** Serializes tokens or costs, both as numbers in v2. */
const number = (name: Summed): RunField =>
  field(
    [`r.${name}`],
    (row, related) => {
      const value = consumed(row, related, name);
      return value === null ? "null" : String(Number(value));
    },
    ["totals"],
  );

/** Serializes an object of numbers or decimal text as `{"raw": {category: number}}`. */
const details = (name: string): RunField =>
  field([`r.${name}`], (row) => {
    const stored = row[name] as string | null | undefined;
    if (stored == null) return "null";
    const entries = Object.entries(JSON.parse(stored) as Record<string, unknown>);
    return text({ raw: Object.fromEntries(entries.map(([key, value]) => [key, Number(value)])) });
  });

/** Fields of a run in v2, by property name; selected in upper case (contract §3.5). */
export const FIELDS_V2: Record<string, RunField> = {
  id: plain("id"),
  name: plain("name"),
  run_type: field(["r.run_type"], (row) => text((row.run_type ?? "chain").toUpperCase())),
  status: field([STATUS_COLUMN], (row) => text(String(row["run_status"]).toUpperCase())),
  start_time: timeColumn("start_time", zulu),
  end_time: timeColumn("end_time", zulu),
  latency_seconds: field([`${RUN_LATENCY} as run_latency`], (row) => text(row["run_latency"])),
  first_token_time: timeColumn("first_token_time", zulu),
  error: plain("error"),
  error_preview: field(["r.error"], (row) => text(row.error?.slice(0, 250))),
  extra: rawJsonColumn("extra"),
  metadata: field(["r.extra"], (row) => serializeMetadata(row.extra)),
  events: rawJsonColumn("events"),
  inputs: rawJsonColumn("inputs"),
  inputs_preview: plain("inputs_preview"),
  outputs: rawJsonColumn("outputs"),
  outputs_preview: plain("outputs_preview"),
  manifest: rawJsonColumn("serialized"),
  parent_run_ids: field(["r.dotted_order"], (row) => text(parentIds(row))),
  project_id: field([], (row) => text(row.project_id)),
  trace_id: plain("trace_id"),
  thread_id: plain("thread_id"),
  dotted_order: plain("dotted_order"),
  is_root: field([], (row) => text(row.parent_run_id == null)),
  is_provisional_root: field([], (row) => (row.provisional_root === true ? "true" : "null")),
  reference_example_id: plain("reference_example_id"),
  reference_dataset_id: field(
    ["r.reference_example_id"],
    (row, { datasets }) => text(datasets?.get(row.reference_example_id ?? "")),
    ["datasets"],
  ),
  total_tokens: number("total_tokens"),
  prompt_tokens: number("prompt_tokens"),
  completion_tokens: number("completion_tokens"),
  total_cost: number("total_cost"),
  prompt_cost: number("prompt_cost"),
  completion_cost: number("completion_cost"),
  prompt_token_details: details("prompt_token_details"),
  completion_token_details: details("completion_token_details"),
  prompt_cost_details: details("prompt_cost_details"),
  completion_cost_details: details("completion_cost_details"),
  price_model_id: plain("price_model_id"),
  cost_basis: rawJsonColumn("cost_basis"),
  tags: field(["r.tags"], (row) => text(tagList(row))),
  app_path: field([], (row, _, context) => text(appPath(row, context.tenantId))),
  attachments: field(
    [],
    (row, { attachments }, { apiBase }) => text(attachmentLinks(attachments?.get(row.id), apiBase)),
    ["attachments"],
  ),
  thread_evaluation_time: field([], () => "null"),
  is_in_dataset: field([], (row, { inDataset }) => text(inDataset?.has(row.id) ?? false), ["inDataset"]),
  last_queued_at: field([], () => "null"),
  share_url: field(
    [],
    (row, { shares }, { consoleUrl }) => {
      const token = shares?.get({ ...row, trace_id: row.trace_id! });
      return text(token === undefined ? undefined : `${consoleUrl}/public/${token}/r`);
    },
    ["shares"],
  ),
  feedback_stats: field([], (row, { feedback }) => serializeFeedback(feedback?.get(row.id)), ["feedback"]),
};

export const SELECTABLE_V2 = Object.keys(FIELDS_V2).map((name) => name.toUpperCase());

function serializeMetadata(extra: string | null | undefined): string {
  if (extra == null) return "null";
  const value = JSON.parse(extra) as { metadata?: unknown } | null;
  return text(value?.metadata);
}

const attachmentLinks = (links: readonly AttachmentLink[] | undefined, apiBase: string): object | undefined =>
  links && Object.fromEntries(links.map(({ name, path }) => [name, apiBase + path]));

/** Serializes feedback statistics of a single run, which never include feedback on its thread. */
export const serializeFeedback = (stats: Record<string, object> | undefined): string =>
  stats === undefined
    ? "null"
    : text(
        Object.fromEntries(
          Object.entries(stats).map(([key, entry]) => [key, { ...entry, contains_thread_feedback: false }]),
        ),
      );

export function planV2(selected: readonly string[] | undefined): SerializationPlan {
  const names = [...new Set((selected ?? ["ID"]).map((name) => name.toLowerCase()))];
  return createPlan(names.map((name) => [name, FIELDS_V2[name]!]));
}

/**
 * Plans the serialization of these fields. Properties without a value are omitted, except `end_time`, which is null
 * while a run is pending.
 */
export function createPlan(fields: readonly (readonly [name: string, field: RunField])[]): SerializationPlan {
  return {
    columns: [...new Set([...ALWAYS, ...fields.flatMap(([, field]) => field.columns)])],
    lookups: new Set(fields.flatMap(([, field]) => field.lookups)),
    print: (row, related, context) => {
      const parts = fields.flatMap(([name, field]) => {
        const value = field.print(row, related, context);
        return value === "null" && name !== "end_time" ? [] : [`"${name}":${value}`];
      });
      return `{${parts.join(",")}}`;
    },
  };
}
