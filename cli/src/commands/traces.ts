import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { TraceApi } from "../core/trace-api.ts";
import { FILTER_FLAGS, LIST_FLAGS, toToolFilters } from "./reading/list-flags.ts";
import { printList } from "./reading/print-list.ts";
import { printTrace, runListing } from "./reading/run-lists.ts";

export const summary = "List, search and show traces";

export const command = declareActions({
  noun: "traces",
  about: `Reads traces of a project. Examples:

  heddle traces list --project shop --error --since 24h
  heddle traces search "refund" --project shop --min-latency 5
  heddle traces show 01a22287-9459-7000-ac18-f5e8b0a0befe`,
  actions: {
    list: { summary: "List traces, newest first or sorted by a metric." },
    search: {
      summary: "List traces that contain TEXT.",
      argument: { placeholder: "TEXT", what: "text to search for" },
    },
    show: {
      summary: "Print the tree of a trace's runs.",
      argument: { placeholder: "TRACE", what: "id of the trace", isUuid: true, list: "heddle traces list" },
    },
  },
  flags: {
    ...LIST_FLAGS,
    ...FILTER_FLAGS,
    "errors-only": { type: "switch", default: false, only: ["show"], description: "Print only runs that failed." },
    values: {
      type: "integer",
      placeholder: "N",
      default: 300,
      max: 100_000,
      only: ["show"],
      description: "Characters of each input and output.",
    },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "show") {
    const { json, values } = options;
    return printTrace(api, argument, { json, values, errorsOnly: options["errors-only"] });
  }
  const filters = toToolFilters({ ...options, ...(action === "search" && { text: argument }) });
  return printList(api, runListing(filters, true), options, true);
}
