import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatAge } from "../core/relative-time.ts";
import { TraceApi } from "../core/trace-api.ts";
import { LIST_FLAGS } from "./reading/list-flags.ts";
import { cell, dollars, type Item, type Listing, percent, printList, scores, seconds } from "./reading/print-list.ts";

export const summary = "List datasets, their examples and experiments, and add runs as examples";

const argument = { placeholder: "DATASET", what: "name or id of the dataset", list: "heddle datasets list" } as const;

export const command = declareActions({
  noun: "datasets",
  about: `Reads datasets, and adds runs to them as examples. Examples:

  heddle datasets list
  heddle datasets show "hard cases" --text refund
  heddle datasets add "hard cases" --run 01a22287-9459-7000-ac18-f5e8b0a0befe --create`,
  actions: {
    list: { summary: "List datasets." },
    show: { summary: "List the examples of a dataset.", argument },
    experiments: { summary: "List the experiments on a dataset, newest first.", argument },
    add: { summary: "Add the inputs and outputs of runs as examples.", argument },
  },
  flags: {
    ...LIST_FLAGS,
    name: { type: "text", placeholder: "TEXT", only: ["list"], description: "Only datasets whose name contains it." },
    text: { type: "text", placeholder: "TEXT", only: ["show"], description: "Only examples that contain it." },
    run: { type: "list", placeholder: "RUN", only: ["add"], description: "Id of a run; may be repeated." },
    split: { type: "text", placeholder: "NAME", only: ["add"], description: "Split of the examples." },
    create: { type: "switch", default: false, only: ["add"], description: "Create the dataset if there is none." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument: dataset, options } = readAction(command, args);
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "add") return addRuns(api, dataset, options);
  const listings: Record<Exclude<typeof action, "add">, Listing> = {
    list: {
      tool: "list_datasets",
      field: "datasets",
      what: "datasets",
      input: { name_contains: options.name },
      columns: {
        DATASET: (each) => cell(each["name"], 40),
        EXAMPLES: (each) => cell(each["example_count"]),
        EXPERIMENTS: (each) => cell(each["experiment_count"]),
        CREATED: (each) => formatAge(each["created_at"] as string),
        DESCRIPTION: (each) => cell(each["description"]),
      },
    },
    show: {
      tool: "list_examples",
      field: "examples",
      what: "examples",
      input: { dataset, text: options.text },
      columns: {
        EXAMPLE: (each) => String(each["id"]),
        CREATED: (each) => formatAge(each["created_at"] as string),
        INPUTS: (each) => cell(each["inputs"]),
        OUTPUTS: (each) => cell(each["outputs"]),
      },
    },
    experiments: {
      tool: "list_experiments",
      field: "experiments",
      what: "experiments",
      input: { dataset },
      columns: {
        EXPERIMENT: (each) => cell(each["name"], 50),
        STARTED: (each) => formatAge(each["started_at"] as string),
        RUNS: (each) => cell(each["run_count"]),
        ERRORS: (each) => percent(each["error_rate"]),
        P50: (each) => seconds(each["latency_p50_seconds"]),
        COST: (each) => dollars(each["total_cost_usd"]),
        SCORES: (each) => scores(each["scores"]),
      },
    },
  };
  return printList(api, listings[action], options, action === "show");
}

async function addRuns(
  api: TraceApi,
  dataset: string,
  { run: runs, split, create, json }: { run: string[]; split: string | undefined; create: boolean; json: boolean },
): Promise<void> {
  if (runs.length === 0) throw new UsageError("heddle datasets add needs --run");
  if (create) {
    const found = await api.send<Item[]>("GET", `/datasets?name=${encodeURIComponent(dataset)}&limit=1`);
    if (found.length === 0) await api.callTool("create_dataset", { name: dataset });
  }
  const examples = runs.map((source_run_id) => ({ source_run_id, ...(split !== undefined && { split }) }));
  const added = await api.callTool<{ example_ids: string[] }>("add_examples", { dataset, examples });
  process.stdout.write(json ? `${JSON.stringify(added)}\n` : `Added ${added.example_ids.join(", ")} to ${dataset}.\n`);
}
