import type { operations } from "../../api/trace.d.ts";
import type { PreviewRequest, Rule } from "./queries.ts";

export type RuleBody = Omit<
  NonNullable<operations["post_api_v1_runs_rules"]["requestBody"]>["content"]["application/json"],
  "tracer_session_issue_id"
>;

/** Values of the form of a rule. */
export interface RuleValues {
  name: string;
  projectId: string | null;
  datasetId: string | null;
  filter: string;
  traceFilter: string;
  treeFilter: string;
  /** In percent. */
  sampling: number | string;
  isOnThreads: boolean;
  idleMinutes: number | string;
  evaluatorId: string | null;
  /** Corrections that the judge sees as examples; 0: none. */
  examples: number | string;
  alignmentQueue: boolean;
  spendLimit: number | string;
  spendWindow: "daily" | "weekly" | "monthly";
  queueId: string | null;
  targetDatasetId: string | null;
  prefersCorrection: boolean;
  /** JSON text. */
  mapping: string;
  tags: string[];
  feedbackKey: string;
  feedbackScore: number | string;
  webhookUrl: string;
  /** `Name: value` lines. */
  webhookHeaders: string;
  includesStats: boolean;
  pagerdutyKey: string;
  pagerdutySeverity: "critical" | "error" | "warning" | "info";
  extendsRetention: boolean;
  backfills: boolean;
  /** Days. */
  backfillDays: number | string;
}

/** Values of a rule, or of a new one. */
export function valuesOf(
  rule: Rule | undefined,
  fresh: Partial<Record<"projectId" | "filter" | "traceFilter" | "treeFilter", string | undefined>>,
): RuleValues {
  const [webhook] = rule?.webhooks ?? [];
  const [alert] = rule?.alerts ?? [];
  const [feedback] = rule?.add_feedback ?? [];
  return {
    name: rule?.display_name ?? "",
    projectId: rule ? rule.session_id : (fresh.projectId ?? null),
    datasetId: rule?.dataset_id ?? null,
    // most rules concern whole traces; without a filter every call of a model would match
    filter: rule ? (rule.filter ?? "") : (fresh.filter ?? "eq(is_root, true)"),
    traceFilter: rule ? (rule.trace_filter ?? "") : (fresh.traceFilter ?? ""),
    treeFilter: rule ? (rule.tree_filter ?? "") : (fresh.treeFilter ?? ""),
    sampling: Number(((rule?.sampling_rate ?? 1) * 100).toFixed(4)),
    isOnThreads: rule?.group_by === "thread_id",
    idleMinutes: (rule?.idle_seconds ?? 300) / 60,
    evaluatorId: rule?.evaluator_id ?? null,
    examples: rule?.num_few_shot_examples ?? 0,
    alignmentQueue: rule?.alignment_annotation_queue_id != null,
    spendLimit: rule?.spend_limit ? Number(rule.spend_limit.limit_usd) : "",
    spendWindow: rule?.spend_limit?.window ?? "weekly",
    queueId: rule?.add_to_annotation_queue_id ?? null,
    targetDatasetId: rule?.add_to_dataset_id ?? null,
    prefersCorrection: rule?.add_to_dataset_prefer_correction ?? false,
    mapping: rule?.dataset_mapping ? JSON.stringify(rule.dataset_mapping, null, 2) : "",
    tags: rule?.add_tags ?? [],
    feedbackKey: feedback?.key ?? "",
    // stored as a number, whether the rule says true or 1
    feedbackScore: feedback?.score == null ? "" : Number(feedback.score),
    webhookUrl: webhook?.url ?? "",
    webhookHeaders: Object.entries(webhook?.headers ?? {})
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
    includesStats: rule?.include_extended_stats ?? false,
    pagerdutyKey: alert?.routing_key ?? "",
    pagerdutySeverity: alert?.severity ?? "warning",
    extendsRetention: rule?.extend_only ?? false,
    backfills: false,
    backfillDays: 7,
  };
}

/** Whether the rule does something. @param rule as it is stored, with what the form does not show */
export const hasAction = (values: RuleValues, rule: Rule | undefined): boolean =>
  [rule?.webhooks, rule?.alerts, rule?.add_feedback].some((all) => (all?.length ?? 0) > 1) ||
  values.evaluatorId !== null ||
  values.queueId !== null ||
  values.targetDatasetId !== null ||
  values.tags.length > 0 ||
  values.feedbackKey.trim() !== "" ||
  values.webhookUrl.trim() !== "" ||
  values.pagerdutyKey.trim() !== "" ||
  values.extendsRetention;

const trimmed = (text: string): string | null => text.trim() || null;

const samplingOf = ({ sampling }: RuleValues): number => Math.min(1, Math.max(0, Number(sampling) / 100));

/** @param now milliseconds */
function backfillFrom({ backfillDays }: RuleValues, now: number): string {
  const day = 86_400_000;
  // whole minutes, so that a preview is not requested again each time
  return new Date(Math.floor((now - Number(backfillDays) * day) / 60_000) * 60_000).toISOString();
}

/**
 * Builds the body of a rule. Webhooks, alerts and feedback beyond the first, which the form does not show, stay.
 * @throws Error for a mapping that is no JSON
 */
export function bodyOf(values: RuleValues, rule: Rule | undefined, now: number): RuleBody {
  const [url, routing_key, key] = [values.webhookUrl.trim(), values.pagerdutyKey.trim(), values.feedbackKey.trim()];
  const webhook = url && { url, headers: headersOf(values.webhookHeaders) };
  const alert = routing_key && { ...rule?.alerts?.[0], routing_key, severity: values.pagerdutySeverity };
  const score = values.feedbackScore === "" ? null : Number(values.feedbackScore);
  const feedback = key && { ...rule?.add_feedback[0], key, score };
  return {
    display_name: values.name.trim(),
    session_id: values.datasetId === null ? values.projectId : null,
    dataset_id: values.datasetId,
    filter: trimmed(values.filter),
    trace_filter: trimmed(values.traceFilter),
    tree_filter: trimmed(values.treeFilter),
    sampling_rate: samplingOf(values),
    group_by: values.isOnThreads ? "thread_id" : null,
    idle_seconds: Math.max(1, Math.round(Number(values.idleMinutes) * 60)),
    evaluator_id: values.evaluatorId,
    ...correctionsOf(values, rule),
    create_alignment_queue: values.evaluatorId !== null && values.alignmentQueue,
    spend_limit: values.spendLimit === "" ? null : { limit_usd: String(values.spendLimit), window: values.spendWindow },
    add_to_annotation_queue_id: values.queueId,
    add_to_dataset_id: values.targetDatasetId,
    add_to_dataset_prefer_correction: values.prefersCorrection,
    dataset_mapping: mappingOf(values.mapping) as never,
    add_tags: values.tags,
    add_feedback: withFurther(feedback, rule?.add_feedback),
    webhooks: withFurther(webhook, rule?.webhooks),
    alerts: withFurther(alert, rule?.alerts),
    include_extended_stats: values.includesStats,
    extend_only: values.extendsRetention,
    ...(values.backfills && { backfill_from: backfillFrom(values, now) }),
  };
}

/** Returns what the form shows, unless it was emptied, and what it does not show: all beyond the first. */
const withFurther = <T>(first: T | "", all: readonly T[] | null | undefined): T[] => [
  ...(first === "" ? [] : [first]),
  ...(all ?? []).slice(1),
];

/** Settings of the judge's corrections. Without any, only the judge that the rule had loses them. */
function correctionsOf({ evaluatorId, examples }: RuleValues, rule: Rule | undefined) {
  const count = Number(examples) || 0;
  if (evaluatorId !== null && count > 0) return { use_corrections_dataset: true, num_few_shot_examples: count };
  return rule?.use_corrections_dataset && rule.evaluator_id === evaluatorId ? { use_corrections_dataset: false } : {};
}

export function previewOf(values: RuleValues, now: number): PreviewRequest {
  return {
    session_id: values.datasetId === null ? values.projectId : null,
    dataset_id: values.datasetId,
    filter: trimmed(values.filter),
    trace_filter: trimmed(values.traceFilter),
    tree_filter: trimmed(values.treeFilter),
    group_by: values.isOnThreads ? "thread_id" : null,
    sampling_rate: samplingOf(values),
    evaluator_id: values.evaluatorId,
    backfill_from: backfillFrom(values, now),
  };
}

function mappingOf(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The mapping is not valid JSON.");
  }
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new Error(`The header "${line}" has no colon.`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
