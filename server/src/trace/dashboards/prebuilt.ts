/**
 * The dashboards that every project has, and every deployment, whose traces are in a project. Their ids follow from the
 * project, so that they are the same at each reading.
 */
import { uuid5 } from "../../base/ids.ts";
import type { Chart, PrebuiltKind, StoredSeries } from "./schema.ts";
import type { SeriesMetric } from "./series-metrics.ts";

const NAMESPACE = "0f5d7c1e-6f0b-4f0e-9f3b-3a1b6f6f2d11";

interface Plan {
  title: string;
  description?: string;
  type?: "bar";
  display?: "heatmap" | "table";
  filter?: string;
  group?: Pick<NonNullable<StoredSeries["group_by"]>, "attribute" | "path" | "max_groups">;
  series: [name: string, metric: SeriesMetric][];
}

const TRACES = "eq(is_root, true)";
const CALLS = 'eq(run_type, "llm")';
const TOOLS = 'eq(run_type, "tool")';
const by = (attribute: NonNullable<StoredSeries["group_by"]>["attribute"], max_groups = 5) => ({
  attribute,
  path: null,
  max_groups,
});
const LATENCY: Plan["series"] = [
  ["P50", "latency_p50"],
  ["P95", "latency_p95"],
  ["P99", "latency_p99"],
];

interface PlannedSection {
  title: string;
  description: string;
  charts: Plan[];
}

const PROJECT: PlannedSection[] = [
  {
    title: "Traces",
    description: "Root runs, each for its whole trace",
    charts: [
      { title: "Traces", type: "bar", filter: TRACES, series: [["Traces", "run_count"]] },
      { title: "Latency", filter: TRACES, series: LATENCY },
      { title: "Error rate", filter: TRACES, series: [["Failed", "error_rate"]] },
      { title: "Latency of all traces", display: "heatmap", filter: TRACES, series: [["Latency", "latency_counts"]] },
      {
        title: "Errors by kind",
        type: "bar",
        filter: TRACES,
        group: by("error_kind"),
        series: [["Errors", "run_count"]],
      },
    ],
  },
  {
    title: "LLM calls",
    description: "Calls to models",
    charts: [
      { title: "LLM calls", type: "bar", filter: CALLS, series: [["Calls", "run_count"]] },
      { title: "LLM latency", filter: CALLS, series: LATENCY },
      { title: "LLM error rate by model", filter: CALLS, group: by("model"), series: [["Failed", "error_rate"]] },
      {
        title: "First token",
        filter: CALLS,
        series: [
          ["P50", "first_token_p50"],
          ["P99", "first_token_p99"],
        ],
      },
    ],
  },
  {
    title: "Cost and tokens",
    description: "Usage of models",
    charts: [
      { title: "Cost", type: "bar", filter: TRACES, series: [["Cost", "total_cost"]] },
      { title: "Cost by model", filter: CALLS, group: by("model", 8), series: [["Cost", "total_cost"]] },
      {
        title: "Tokens",
        type: "bar",
        filter: TRACES,
        series: [
          ["Prompt", "prompt_tokens"],
          ["Completion", "completion_tokens"],
        ],
      },
      {
        title: "Cost per trace",
        filter: TRACES,
        series: [
          ["P50", "cost_p50"],
          ["P99", "cost_p99"],
        ],
      },
    ],
  },
  {
    title: "Tools",
    description: "The five tools with the most calls",
    charts: [
      { title: "Tool calls", filter: TOOLS, group: by("name"), series: [["Calls", "run_count"]] },
      { title: "Tool latency", filter: TOOLS, group: by("name"), series: [["P50", "latency_p50"]] },
      { title: "Tool error rate", filter: TOOLS, group: by("name"), series: [["Failed", "error_rate"]] },
    ],
  },
  {
    title: "Feedback",
    description: "Feedback on traces",
    charts: [{ title: "Feedback", type: "bar", filter: TRACES, series: [["Feedback", "feedback_count"]] }],
  },
];

const DEPLOYMENT: PlannedSection[] = [
  {
    title: "Revisions",
    description: "Traces by revision",
    charts: [
      {
        title: "Traces by revision",
        type: "bar",
        filter: TRACES,
        group: by("revision"),
        series: [["Traces", "run_count"]],
      },
      { title: "Error rate by revision", filter: TRACES, group: by("revision"), series: [["Failed", "error_rate"]] },
      { title: "Latency P95 by revision", filter: TRACES, group: by("revision"), series: [["P95", "latency_p95"]] },
      { title: "Cost by revision", filter: TRACES, group: by("revision"), series: [["Cost", "total_cost"]] },
    ],
  },
  {
    title: "Runs",
    description: "Runs of the agent servers",
    charts: [
      { title: "Runs by status", type: "bar", group: by("status", 6), series: [["Runs", "agent_run_count"]] },
      { title: "Error rate of runs", series: [["Failed", "agent_error_rate"]] },
      {
        title: "Duration of runs",
        series: [
          ["P50", "agent_duration_p50"],
          ["P95", "agent_duration_p95"],
          ["P99", "agent_duration_p99"],
        ],
      },
      { title: "Runs by graph", type: "bar", group: by("graph"), series: [["Runs", "agent_run_count"]] },
      { title: "Duration P95 by graph", group: by("graph"), series: [["P95", "agent_duration_p95"]] },
    ],
  },
  {
    title: "Queue",
    description: "Runs that wait for a server",
    charts: [
      { title: "Waiting runs", series: [["Most", "queue_runs"]] },
      { title: "Age of the oldest waiting run", series: [["Longest", "queue_oldest_seconds"]] },
      {
        title: "Wait until start",
        series: [
          ["P50", "queue_wait_p50"],
          ["P95", "queue_wait_p95"],
        ],
      },
    ],
  },
  {
    title: "Crons and webhooks",
    description: "Occurrences of crons, and attempts to deliver webhooks",
    charts: [
      {
        title: "Crons",
        type: "bar",
        series: [
          ["Fired", "cron_fired_count"],
          ["Failed", "cron_failed_count"],
          ["Missed", "cron_missed_count"],
        ],
      },
      {
        title: "Webhooks",
        type: "bar",
        series: [
          ["Delivered", "webhook_delivered_count"],
          ["Failed", "webhook_failed_count"],
          ["Retries", "webhook_retry_count"],
        ],
      },
    ],
  },
];

const PLANS: Record<PrebuiltKind, PlannedSection[]> = { project: PROJECT, deployment: DEPLOYMENT };

export interface PrebuiltSection {
  id: string;
  title: string;
  description: string;
  index: number;
  charts: Chart[];
}

/** Builds a dashboard over a project's traces; feedback keys have a chart each. */
export function prebuiltSections(
  kind: PrebuiltKind,
  projectId: string,
  feedbackKeys: readonly string[],
): PrebuiltSection[] {
  const id = (name: string) => uuid5(`${projectId} ${name}`, NAMESPACE);
  return PLANS[kind].map(({ title, description, charts }, index) => {
    const section = id(title);
    const own = charts.map((plan, place) => toChart(plan, place, section, projectId, id));
    if (title === "Feedback") {
      for (const key of feedbackKeys) {
        const plan: Plan = {
          title: `Feedback: ${key}`,
          filter: TRACES,
          series: [["Average score", "feedback_score_avg"]],
        };
        own.push(toChart(plan, own.length, section, projectId, id, key));
      }
    }
    return { id: section, title, description, index, charts: own };
  });
}

function toChart(
  { title, description, type, display, filter, group, series }: Plan,
  index: number,
  section_id: string,
  projectId: string,
  id: (name: string) => string,
  feedback_key: string | null = null,
): Chart {
  return {
    id: id(title),
    section_id,
    title,
    description: description ?? null,
    index,
    chart_type: type ?? "line",
    metadata: display ? { display } : null,
    common_filters: { filter: filter ?? null, session: [projectId] },
    series: series.map(([name, metric]) => ({
      id: id(`${title} ${name}`),
      name,
      metric,
      filters: null,
      feedback_key,
      workspace_id: null,
      project_metric: null,
      group_by: group ? { ...group, path: group.path ?? null, set_by: "series" as const } : null,
    })),
  };
}
