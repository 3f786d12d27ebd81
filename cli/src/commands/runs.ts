import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { TraceApi } from "../core/trace-api.ts";
import { FILTER_FLAGS, LIST_FLAGS, toToolFilters } from "./reading/list-flags.ts";
import { printList } from "./reading/print-list.ts";
import { printRun, runListing } from "./reading/run-lists.ts";

export const summary = "List, search and show runs, such as calls of models and tools";

export const command = declareActions({
  noun: "runs",
  about: `Reads runs of a project, of any depth; heddle traces reads whole traces. Examples:

  heddle runs list --project shop --type llm --sort total_cost
  heddle runs list --project shop --error --json | head -1
  heddle runs show 01a22287-9459-7000-ac18-f5e8b0a0befe`,
  actions: {
    list: { summary: "List runs, newest first or sorted by a metric." },
    search: { summary: "List runs that contain TEXT.", argument: { placeholder: "TEXT", what: "text to search for" } },
    show: {
      summary: "Print a run in full: inputs, outputs, error, metadata and feedback.",
      argument: { placeholder: "RUN", what: "id of the run", isUuid: true, list: "heddle runs list" },
    },
  },
  flags: { ...LIST_FLAGS, ...FILTER_FLAGS },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "show") return printRun(api, argument, options.json);
  const filters = toToolFilters({ ...options, ...(action === "search" && { text: argument }) });
  return printList(api, runListing(filters, false), options, true);
}
