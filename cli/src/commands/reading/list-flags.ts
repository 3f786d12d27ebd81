import { UsageError, type FlagSpec } from "../../core/flags.ts";
import { TRACE_FLAGS } from "../../core/trace-flags.ts";

/** Flags of commands that read from the trace platform. */
const READ_FLAGS = {
  ...TRACE_FLAGS,
  workspace: {
    type: "text",
    placeholder: "WORKSPACE",
    env: ["LANGSMITH_WORKSPACE_ID"],
    description: "Workspace, by name or id, for keys that enter several.",
  },
  json: {
    type: "switch",
    default: false,
    description: "Print JSON: an object per line for lists, one object otherwise.",
  },
} as const satisfies Record<string, FlagSpec>;

export const LIST_FLAGS = {
  ...READ_FLAGS,
  limit: { type: "integer", placeholder: "N", default: 20, min: 1, max: 100_000, description: "Items to print." },
  cursor: { type: "text", placeholder: "CURSOR", description: "Go on after the page that printed this cursor." },
} as const satisfies Record<string, FlagSpec>;

/** Plain filters of runs. */
export const FILTER_FLAGS = {
  project: {
    type: "text",
    placeholder: "NAME",
    env: ["HEDDLE_PROJECT", "LANGSMITH_PROJECT"],
    description: "Tracing project, by name or id.",
  },
  name: { type: "text", placeholder: "NAME", description: "Only runs with this name." },
  type: { type: "text", placeholder: "TYPE", description: "Only runs of this type, such as llm or tool." },
  status: {
    type: "text",
    placeholder: "STATUS",
    description: "Only success, error, pending, interrupted or incomplete.",
  },
  error: { type: "switch", default: false, description: "Only runs that failed." },
  since: { type: "text", placeholder: "TIME", description: "Earliest start: an ISO 8601 time, or 30m, 24h, 7d." },
  until: { type: "text", placeholder: "TIME", description: "Latest start, in the same form." },
  "min-latency": { type: "text", placeholder: "SECONDS", description: "Least latency." },
  "max-latency": { type: "text", placeholder: "SECONDS", description: "Greatest latency." },
  "min-cost": { type: "text", placeholder: "USD", description: "Least cost." },
  tag: { type: "list", placeholder: "TAG", description: "A tag that the run has; may be repeated." },
  metadata: { type: "list", placeholder: "KEY=VALUE", description: "Metadata that the run has; may be repeated." },
  thread: { type: "text", placeholder: "ID", description: "Only runs of this thread." },
  text: { type: "text", placeholder: "TEXT", description: "Text in name, error, inputs, outputs, tags or metadata." },
  feedback: { type: "text", placeholder: "KEY", description: "Only runs with feedback of this key." },
  "max-score": { type: "text", placeholder: "SCORE", description: "With --feedback: of at most this score." },
  filter: { type: "text", placeholder: "EXPRESSION", description: "Expression of the filter language, in addition." },
  sort: {
    type: "text",
    placeholder: "METRIC",
    default: "start_time",
    description: "start_time, latency, first_token, total_tokens, total_cost, name or feedback:KEY.",
  },
  order: { type: "text", placeholder: "ORDER", default: "desc", description: "desc or asc." },
} as const satisfies Record<string, FlagSpec>;

type FilterOptions = Record<keyof typeof FILTER_FLAGS, unknown>;

/** Returns the filters as the platform's tools take them. @throws UsageError */
export function toToolFilters(options: FilterOptions): Record<string, unknown> {
  const given = options as Record<string, string | string[] | boolean | undefined>;
  const pairs = (given["metadata"] as string[]).map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`--metadata must be KEY=VALUE, not "${pair}".`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  const tags = given["tag"] as string[];
  const text = (name: keyof FilterOptions) => given[name] as string | undefined;
  const filters = {
    project: needProject(given["project"] as string | undefined),
    name: given["name"],
    run_type: given["type"],
    status: given["error"] === true ? "error" : given["status"],
    since: given["since"],
    until: given["until"],
    min_latency_seconds: toNumber("min-latency", text("min-latency")),
    max_latency_seconds: toNumber("max-latency", text("max-latency")),
    min_total_cost_usd: toNumber("min-cost", text("min-cost")),
    tags: tags.length > 0 ? tags : undefined,
    metadata: pairs.length > 0 ? Object.fromEntries(pairs) : undefined,
    thread_id: given["thread"],
    text: given["text"],
    feedback_key: given["feedback"],
    max_feedback_score: toNumber("max-score", text("max-score")),
    filter: given["filter"],
    sort_by: given["sort"],
    order: given["order"],
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

export function needProject(project: string | undefined): string {
  if (project === undefined)
    throw new UsageError("Name the project: --project NAME, or HEDDLE_PROJECT. To list them: heddle projects list");
  return project;
}

export function toNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text === "" || !Number.isFinite(number)) throw new UsageError(`--${name} must be a number, not "${text}".`);
  return number;
}
