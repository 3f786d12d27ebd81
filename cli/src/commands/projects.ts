import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { formatAge } from "../core/relative-time.ts";
import { TraceApi } from "../core/trace-api.ts";
import { FILTER_FLAGS, LIST_FLAGS } from "./reading/list-flags.ts";
import { cell, dollars, type Item, percent, printList, scores, seconds } from "./reading/print-list.ts";
import { clean } from "./reading/run-lists.ts";

export const summary = "List tracing projects, and show statistics of their runs";

export const command = declareActions({
  noun: "projects",
  about: `Reads tracing projects. Examples:

  heddle projects list
  heddle projects show shop --since 24h --group-by name`,
  actions: {
    list: { summary: "List projects, the latest active first." },
    show: {
      summary: "Print statistics of a project's traces.",
      argument: { placeholder: "PROJECT", what: "name or id of the project" },
    },
  },
  flags: {
    ...LIST_FLAGS,
    name: { type: "text", placeholder: "TEXT", only: ["list"], description: "Only projects whose name contains it." },
    since: { ...FILTER_FLAGS.since, only: ["show"] },
    until: { ...FILTER_FLAGS.until, only: ["show"] },
    "group-by": {
      type: "text",
      placeholder: "WHAT",
      only: ["show"],
      description: "Group by name, run_type, tag or error_kind, over runs of any depth.",
    },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "list") {
    const columns = {
      PROJECT: (project: Item) => cell(project["name"], 40),
      TRACES: (project: Item) => cell(project["run_count"]),
      ERRORS: (project: Item) => percent(project["error_rate"]),
      P50: (project: Item) => seconds(project["latency_p50_seconds"]),
      COST: (project: Item) => dollars(project["total_cost_usd"]),
      FEEDBACK: (project: Item) => scores(project["feedback"]),
      "LAST RUN": (project: Item) => formatAge(project["last_run_at"] as string),
    };
    const input = { name_contains: options.name };
    return printList(api, { tool: "list_projects", field: "projects", what: "projects", columns, input }, options);
  }
  const group = options["group-by"];
  const { groups } = await api.callTool<{ groups: Record<string, object> }>("get_run_statistics", {
    project: argument,
    since: options.since,
    until: options.until,
    ...(group !== undefined && { group_by: group, root_only: false, max_groups: Math.min(100, options.limit) }),
  });
  if (options.json) return void process.stdout.write(`${JSON.stringify(groups)}\n`);
  for (const [name, statistics] of Object.entries(groups)) {
    process.stdout.write(`${clean(name)}:\n`);
    for (const [metric, value] of Object.entries(statistics))
      if (value !== null) process.stdout.write(`  ${metric.padEnd(28)} ${cell(value, 100)}\n`);
  }
}
