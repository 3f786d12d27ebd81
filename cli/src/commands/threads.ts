import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { formatAge } from "../core/relative-time.ts";
import { TraceApi } from "../core/trace-api.ts";
import { FILTER_FLAGS, LIST_FLAGS, needProject } from "./reading/list-flags.ts";
import { cell, dollars, type Item, printList, seconds } from "./reading/print-list.ts";

export const summary = "List and show threads, the conversations of a project";

const { project, since, until, filter, order } = FILTER_FLAGS;
const sort = { ...FILTER_FLAGS.sort, description: "start_time, latency, total_tokens, total_cost or feedback:KEY." };

export const command = declareActions({
  noun: "threads",
  about: `Reads the threads of a project, as traces have recorded them. Examples:

  heddle threads list --project shop --since 7d --sort total_cost
  heddle threads show t-42 --project shop`,
  actions: {
    list: { summary: "List threads, latest turn first or sorted by a metric." },
    show: {
      summary: "List the turns of a thread, oldest first.",
      argument: { placeholder: "THREAD", what: "id of the thread" },
    },
  },
  flags: { ...LIST_FLAGS, project, since, until, filter, sort, order },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const { since, until, filter, sort: sort_by, order } = options;
  const input = { project: needProject(options.project) };
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "show") {
    const turns = {
      TRACE: (turn: Item) => String(turn["trace_id"]),
      STARTED: (turn: Item) => formatAge(turn["start_time"] as string),
      LATENCY: (turn: Item) => seconds(turn["latency"]),
      COST: (turn: Item) => dollars(turn["total_cost"] == null ? null : Number(turn["total_cost"])),
      INPUT: (turn: Item) => cell(turn["inputs"], 50),
      "ERROR OR OUTPUT": (turn: Item) => cell(turn["error"] ?? turn["outputs"], 50),
    };
    const listing = { tool: "read_thread", field: "turns", what: "turns", columns: turns };
    return printList(api, { ...listing, input: { ...input, thread_id: argument } }, options, true);
  }
  const threads = {
    THREAD: (thread: Item) => cell(thread["thread_id"]),
    TURNS: (thread: Item) => cell(thread["count"]),
    FAILED: (thread: Item) => cell(thread["num_errored_turns"]),
    LATENCY: (thread: Item) => seconds(thread["latency_p50"]),
    COST: (thread: Item) => dollars((thread["total_cost"] ?? null) as number | null),
    "LAST TURN": (thread: Item) => formatAge(thread["max_start_time"] as string),
    "FIRST INPUT": (thread: Item) => cell(thread["first_inputs"], 50),
    "LAST OUTPUT": (thread: Item) => cell(thread["last_outputs"], 50),
  };
  const listing = { tool: "list_threads", field: "threads", what: "threads", columns: threads };
  return printList(api, { ...listing, input: { ...input, since, until, filter, sort_by, order } }, options, true);
}
