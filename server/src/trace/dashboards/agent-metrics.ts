/** Metrics that agent servers send (trace/agent-metrics), over rows `m` of minutes. */

export interface AgentMetric {
  kind: "run" | "wait" | "queue" | "cron" | "webhook";
  /** Aggregate over rows `m`. */
  value: string;
  percentile?: number;
}

const FAILED = "m.status in ('error', 'timeout')";
const ofStatus = (kind: AgentMetric["kind"], status: string): AgentMetric => ({
  kind,
  value: `sumIf(m.count, m.status = '${status}')`,
});
const percentile = (kind: AgentMetric["kind"], level: number): AgentMetric => ({
  kind,
  value: "sumMap(m.bins)",
  percentile: level,
});

export const AGENT_METRICS = {
  queue_runs: { kind: "queue", value: "sum(m.count)" },
  queue_oldest_seconds: { kind: "queue", value: "max(m.seconds)" },
  queue_wait_p50: percentile("wait", 0.5),
  queue_wait_p95: percentile("wait", 0.95),
  queue_wait_p99: percentile("wait", 0.99),
  agent_run_count: { kind: "run", value: "sum(m.count)" },
  agent_error_count: { kind: "run", value: `sumIf(m.count, ${FAILED})` },
  agent_error_rate: { kind: "run", value: `sumIf(m.count, ${FAILED}) / sum(m.count)` },
  agent_duration_avg: { kind: "run", value: "sum(m.seconds) / sum(m.count)" },
  agent_duration_p50: percentile("run", 0.5),
  agent_duration_p95: percentile("run", 0.95),
  agent_duration_p99: percentile("run", 0.99),
  cron_fired_count: ofStatus("cron", "created"),
  cron_failed_count: ofStatus("cron", "failed"),
  cron_missed_count: ofStatus("cron", "passed"),
  webhook_delivered_count: ofStatus("webhook", "delivered"),
  webhook_failed_count: ofStatus("webhook", "failed"),
  webhook_retry_count: ofStatus("webhook", "retried"),
} as const satisfies Record<string, AgentMetric>;
export type AgentMetricName = keyof typeof AGENT_METRICS;

export const isOfAgents = (metric: string): metric is AgentMetricName => Object.hasOwn(AGENT_METRICS, metric);
export const agentKind = (metric: AgentMetricName): string => AGENT_METRICS[metric].kind;

export const AGENT_GROUPS: Record<string, string> = {
  graph: "m.graph",
  assistant: "m.assistant",
  status: "m.status",
  project: "toString(m.project_id)",
};
export const groupsAgents = (attribute: string): boolean => Object.hasOwn(AGENT_GROUPS, attribute);
