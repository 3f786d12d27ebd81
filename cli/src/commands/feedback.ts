import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatAge } from "../core/relative-time.ts";
import { TraceApi } from "../core/trace-api.ts";
import { FILTER_FLAGS, LIST_FLAGS, toNumber } from "./reading/list-flags.ts";
import { cell, type Item, printList } from "./reading/print-list.ts";

export const summary = "List feedback on runs, and add some";

export const command = declareActions({
  noun: "feedback",
  about: `Reads feedback on runs, and adds some. Examples:

  heddle feedback list --project shop --key correct
  heddle feedback add RUN --key correct --score 0 --comment "wrong city"`,
  actions: {
    list: { summary: "List feedback, newest first, of --project or of each --run." },
    add: { summary: "Add feedback to a run.", argument: { placeholder: "RUN", what: "id of the run", isUuid: true } },
  },
  flags: {
    ...LIST_FLAGS,
    project: { ...FILTER_FLAGS.project, only: ["list"] },
    run: { type: "list", placeholder: "RUN", only: ["list"], description: "Id of a run; may be repeated." },
    since: { ...FILTER_FLAGS.since, only: ["list"] },
    key: { type: "text", placeholder: "KEY", description: "Criterion, such as correctness." },
    score: { type: "text", placeholder: "NUMBER", only: ["add"], description: "Score." },
    value: { type: "text", placeholder: "TEXT", only: ["add"], description: "Value, such as a category." },
    comment: { type: "text", placeholder: "TEXT", only: ["add"], description: "Comment." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument: run_id, options } = readAction(command, args);
  const { json, key, run: runs, project, since, value, comment } = options;
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "add") {
    if (key === undefined) throw new UsageError("heddle feedback add needs --key");
    const score = toNumber("score", options.score);
    const { id } = await api.callTool<{ id: string }>("add_feedback", { run_id, key, score, value, comment });
    return void process.stdout.write(json ? `${JSON.stringify({ id })}\n` : `Added feedback ${id}.\n`);
  }
  if (runs.length === 0 && project === undefined) throw new UsageError("heddle feedback list needs --project or --run");
  const columns = {
    RUN: (each: Item) => String(each["run_id"]),
    KEY: (each: Item) => cell(each["key"], 30),
    SCORE: (each: Item) => cell(each["score"]),
    VALUE: (each: Item) => cell(each["value"], 30),
    COMMENT: (each: Item) => cell(each["comment"]),
    SOURCE: (each: Item) => cell(each["source"]),
    CREATED: (each: Item) => formatAge(each["created_at"] as string),
  };
  const input = { key, since, ...(runs.length > 0 ? { run_ids: runs } : { project }) };
  return printList(api, { tool: "list_feedback", field: "feedback", what: "feedback", columns, input }, options, true);
}
