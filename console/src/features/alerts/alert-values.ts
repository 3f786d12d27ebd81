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
  denominator: string;
  /** Minutes of the previous period; empty: those of the window. */
  baseline: number | string;
  interval: number | string;
  delay: number | string;
  noData: AlertRule["no_data"];
  /** Periods without messages, as the browser's inputs have them: local times without a zone. */
  maintenance: { from: string; to: string }[];
  channels: ChannelValues[];
}

export const isPlatform = (metric: MetricName): boolean => metric.startsWith("platform.");

/** Local time of an input, `2026-11-28T19:00`. */
function localTime(iso: string): string {
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
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
    denominator: rule?.denominator_filter ?? "",
    baseline: rule?.threshold_window_minutes ?? "",
    interval: rule?.interval_minutes ?? 1,
    delay: rule?.delay_minutes ?? 0,
    noData: rule?.no_data ?? "resolve",
    maintenance: (rule?.maintenance_windows ?? []).map(({ starts_at, ends_at }) => {
      return { from: localTime(starts_at), to: localTime(ends_at) };
    }),
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
  const hasRuns = !isPlatform(values.metric) || type === "absence";
  const group = hasRuns ? values.group : "";
  if (group === "metadata" && values.groupPath.trim() === "") return null;
  const isAbsence = type === "absence";
  const isShare = !isAbsence && aggregation === "pct";
  if (isShare && attribute === "run_count" && values.denominator === "") return null;
  if (values.maintenance.some(({ from, to }) => from === "" || to === "")) return null;
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
    min_runs: hasRuns ? (numberOf(values.minRuns) ?? 0) : 0,
    resolve_threshold: type === "threshold" ? numberOf(values.resolveThreshold) : null,
    filter: hasRuns ? values.filter : null,
    denominator_filter: (isShare && values.denominator) || null,
    threshold_window_minutes: type === "change" ? numberOf(values.baseline) : null,
    interval_minutes: numberOf(values.interval),
    delay_minutes: numberOf(values.delay),
    no_data: values.noData,
    maintenance_windows: values.maintenance.map(({ from, to }) => {
      return { starts_at: new Date(from).toISOString(), ends_at: new Date(to).toISOString() };
    }),
    feedback_key: attribute === "feedback_score" && !isAbsence ? values.feedbackKey.trim() || null : null,
    group_by:
      group === "" || isAbsence
        ? null
        : { attribute: group, path: group === "metadata" ? values.groupPath.trim() : null },
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
