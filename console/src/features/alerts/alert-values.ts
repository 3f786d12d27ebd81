import type { MetricName } from "./describe-alert.ts";
import type { Alert, AlertBody, AlertRule } from "./queries.ts";

type Action = Exclude<AlertBody["actions"][number], { target: "dynatrace" }>;
export type Target = Action["target"];

export interface ChannelValues {
  id: string | null;
  target: Target;
  /** URL, routing key or addresses. */
  text: string;
  headers: Record<string, string>;
}

/** Values of the form. Numbers may be empty text while they are typed. */
export interface AlertValues {
  name: string;
  projectId: string | null;
  type: AlertRule["type"];
  metric: MetricName;
  operator: AlertRule["operator"];
  threshold: number | string;
  percent: number | string;
  window: number | string;
  evaluations: number | string;
  minRuns: number | string;
  resolveThreshold: number | string;
  filter: string;
  feedbackKey: string;
  group: "" | "name" | "run_type" | "tag" | "model" | "error_kind" | "metadata";
  groupPath: string;
  severity: AlertRule["severity"];
  channels: ChannelValues[];
}

export function valuesOf(alert: Alert | undefined, projectId: string | null): AlertValues {
  const rule = alert?.rule;
  return {
    name: rule?.name ?? "",
    projectId: rule ? rule.session_id : projectId,
    type: rule?.type ?? "threshold",
    metric: rule ? `${rule.attribute} ${rule.aggregation}` : "error_count pct",
    operator: rule?.operator ?? "gt",
    threshold: rule?.threshold ?? (rule ? "" : 5),
    percent: rule?.threshold_multiplier == null ? 50 : Math.round((rule.threshold_multiplier - 1) * 1e6) / 1e4,
    window: rule?.window_minutes ?? 15,
    evaluations: rule?.for_evaluations ?? 1,
    minRuns: rule?.min_runs ?? 0,
    resolveThreshold: rule?.resolve_threshold ?? "",
    filter: rule?.filter ?? "",
    feedbackKey: rule?.feedback_key ?? "",
    group: rule?.group_by?.attribute ?? "",
    groupPath: rule?.group_by?.path ?? "",
    severity: rule?.severity ?? "error",
    channels: alert?.actions.map(channelOf) ?? [],
  };
}

export function channelOf({ id, target, config }: Alert["actions"][number]): ChannelValues {
  const text = target === "email" ? (config["to"] as string[]).join(", ") : (config["url"] ?? config["routing_key"]);
  return { id, target, text: String(text), headers: (config["headers"] as Record<string, string>) ?? {} };
}

const numberOf = (value: number | string): number | null => (typeof value === "number" ? value : null);

/** @returns null while the condition is incomplete */
export function ruleOf(values: AlertValues): AlertBody["rule"] | null {
  const [attribute, aggregation] = values.metric.split(" ") as [AlertRule["attribute"], AlertRule["aggregation"]];
  const { type } = values;
  const threshold = numberOf(values.threshold);
  const percent = numberOf(values.percent);
  const window = numberOf(values.window);
  if (window === null || (type === "threshold" && threshold === null) || (type === "change" && percent === null)) {
    return null;
  }
  if (values.group === "metadata" && values.groupPath.trim() === "") return null;
  const isAbsence = type === "absence";
  return {
    name: values.name.trim() || "Alert",
    type,
    attribute: isAbsence ? "run_count" : attribute,
    aggregation: isAbsence ? "sum" : aggregation,
    operator: values.operator,
    threshold: type === "threshold" ? threshold : null,
    threshold_multiplier: type === "change" ? 1 + percent! / 100 : null,
    window_minutes: window,
    for_evaluations: numberOf(values.evaluations) ?? 1,
    min_runs: numberOf(values.minRuns) ?? 0,
    resolve_threshold: type === "threshold" ? numberOf(values.resolveThreshold) : null,
    filter: values.filter,
    feedback_key: attribute === "feedback_score" && !isAbsence ? values.feedbackKey.trim() || null : null,
    group_by:
      values.group === "" || isAbsence
        ? null
        : { attribute: values.group, path: values.group === "metadata" ? values.groupPath.trim() : null },
    severity: values.severity,
  };
}

export function actionsOf({ channels }: Pick<AlertValues, "channels">): Action[] {
  return channels.map(({ id, target, text, headers }): Action => {
    const known = id === null ? {} : { id };
    const value = text.trim();
    if (target === "email") {
      return { ...known, target, config: { to: value.split(/[\s,;]+/).filter((address) => address !== "") } };
    }
    if (target === "pagerduty") return { ...known, target, config: { routing_key: value } };
    if (target === "webhook") return { ...known, target, config: { url: value, headers } };
    return { ...known, target, config: { url: value } };
  });
}
