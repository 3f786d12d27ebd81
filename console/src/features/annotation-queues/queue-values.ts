import type { Queue } from "./queries.ts";
import { readDetails, writeDetails } from "./rubric-details.ts";

export type QueueFields = Omit<Queue, "total_runs">;

/** Values of the form of a queue, or of a new one. */
export const valuesOf = (queue: QueueFields | undefined) => ({
  name: queue?.name ?? "",
  description: queue?.description ?? "",
  instructions: queue?.rubric_instructions ?? "",
  keys: (queue?.rubric_items ?? []).map((item) => item.feedback_key),
  required: (queue?.rubric_items ?? []).filter((item) => item.is_required).map((item) => item.feedback_key),
  details: readDetails(queue?.rubric_items),
  isPairwise: queue?.queue_type === "pairwise",
  /** Empty: all assigned reviewers. */
  reviewersPerItem: (queue ? (queue.num_reviewers_per_item ?? "") : 1) as number | string,
  reserves: queue?.enable_reservations ?? true,
  minutes: (queue?.reservation_minutes ?? 5) as number | string,
  datasetId: queue?.default_dataset ?? null,
  isAssigned: queue?.reviewer_access_mode === "assigned",
  reviewers: (queue?.assigned_reviewers ?? []).map((reviewer) => reviewer.id),
});

export type QueueValues = ReturnType<typeof valuesOf>;

/** Builds the body of a queue. What the form does not show of a key stays. */
export function bodyOf(values: QueueValues, queue: Pick<QueueFields, "rubric_items"> | undefined) {
  const known = new Map((queue?.rubric_items ?? []).map((item) => [item.feedback_key, item]));
  return {
    name: values.name.trim(),
    description: values.description.trim() || null,
    rubric_instructions: values.instructions.trim() || null,
    rubric_items: values.keys.map((key) => {
      const before = { ...known.get(key), feedback_config: undefined };
      return {
        ...before,
        feedback_key: key,
        is_required: values.required.includes(key),
        ...writeDetails(key, values.details[key], before, values.keys),
      };
    }),
    num_reviewers_per_item: values.reviewersPerItem === "" ? null : Number(values.reviewersPerItem),
    enable_reservations: values.reserves,
    reservation_minutes: Number(values.minutes),
    reviewer_access_mode: values.isAssigned ? ("assigned" as const) : ("any" as const),
    default_dataset: values.datasetId,
  };
}
