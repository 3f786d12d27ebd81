import type { Rule } from "./queries.ts";

type Described = Pick<
  Rule,
  | "add_to_annotation_queue_id"
  | "add_to_annotation_queue_name"
  | "add_to_dataset_id"
  | "add_to_dataset_name"
  | "evaluator_id"
  | "evaluators"
  | "code_evaluators"
  | "add_tags"
  | "add_feedback"
  | "webhooks"
  | "alerts"
  | "extend_only"
  | "use_corrections_dataset"
  | "alignment_annotation_queue_id"
>;

/** Describes what a rule does, in words. */
export function describeActions(rule: Described): string {
  const parts: string[] = [];
  const evaluators = (rule.evaluator_id ? 1 : 0) + (rule.evaluators?.length ?? 0) + (rule.code_evaluators?.length ?? 0);
  if (evaluators > 0) parts.push(evaluators === 1 ? "runs an evaluator" : `runs ${evaluators} evaluators`);
  if (evaluators > 0 && rule.use_corrections_dataset) parts.push("shows its judge people's corrections");
  if (rule.alignment_annotation_queue_id) parts.push("adds judged runs to the alignment queue");
  if (rule.add_to_annotation_queue_id) parts.push(`adds to the queue ${named(rule.add_to_annotation_queue_name)}`);
  if (rule.add_to_dataset_id) parts.push(`adds to the dataset ${named(rule.add_to_dataset_name)}`);
  if (rule.add_tags.length > 0) parts.push(`tags ${rule.add_tags.join(", ")}`);
  if (rule.add_feedback.length > 0) parts.push(`gives ${rule.add_feedback.map(({ key }) => key).join(", ")}`);
  if (rule.webhooks?.length) parts.push(rule.webhooks.length === 1 ? "calls a webhook" : "calls webhooks");
  if (rule.alerts?.length) parts.push("alerts PagerDuty");
  if (rule.extend_only) parts.push("keeps the trace longer");
  if (parts.length === 0) return "Does nothing yet";
  const text = parts.join(", ");
  return text[0]!.toUpperCase() + text.slice(1);
}

const named = (name: string | null | undefined): string => name ?? "that was deleted";

/** Describes which runs a rule looks at. */
export function describeScope(
  rule: Pick<Rule, "session_name" | "session_id" | "dataset_id" | "dataset_name" | "group_by" | "sampling_rate">,
): string {
  const units = rule.group_by ? "Threads" : "Runs";
  const share = rule.sampling_rate < 1 ? `${Number((rule.sampling_rate * 100).toFixed(2))}% of ` : "";
  const place = rule.session_id
    ? `of ${rule.session_name ?? "a deleted project"}`
    : rule.dataset_id
      ? `of experiments on ${rule.dataset_name ?? "a deleted dataset"}`
      : "of all projects";
  return `${share === "" ? units : share + units.toLowerCase()} ${place}`;
}

/** Search of a project's list that a rule takes over as its filter. */
export function filterOfSearch({ tab, filter, text }: { tab: string; filter: string; text: string }): string {
  const parts = [
    ...(tab === "traces" ? ["eq(is_root, true)"] : tab === "llm" ? ['eq(run_type, "llm")'] : []),
    ...(filter.trim() === "" ? [] : [filter.trim()]),
    ...(text.trim() === "" ? [] : [`search(${JSON.stringify(text.trim())})`]),
  ];
  return parts.length > 1 ? `and(${parts.join(", ")})` : (parts[0] ?? "");
}
