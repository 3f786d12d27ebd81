import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { importPrompts } from "./prompts/import-prompts.ts";

export const summary = "Copy prompts from another server";

export const command = declareActions({
  noun: "import",
  about: `Copies objects from another Heddle or from LangSmith into the workspace of --api-key. It can be
repeated: what was copied is compared and not copied again. Example:

  heddle import prompts --from https://heddle.example --from-key lsv2_…

Not taken: authors, dates, likes and comments; of agents' links to skills, the commits.`,
  actions: {
    prompts: {
      summary:
        "Copy prompts, agents and skills with their commits, tags and READMEs. Exits with 1 when something was left out.",
      argument: { placeholder: "NAME", what: "name of the prompt", isOptional: true },
    },
  },
  flags: {
    ...TRACE_FLAGS,
    from: { type: "text", placeholder: "URL", description: "URL of the server to read." },
    "from-key": {
      type: "text",
      placeholder: "KEY",
      env: ["HEDDLE_IMPORT_KEY"],
      description: "API key of the workspace to read.",
    },
    "dry-run": { type: "switch", default: false, description: "Change nothing, and print what would be copied." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { argument: name, options } = readAction(command, args);
  if (options.from === undefined) throw new UsageError("--from is missing: the URL of the server to read.");
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const isDry = options["dry-run"];
  const from = new TraceApi(options.from, options["from-key"]);
  const to = new TraceApi(options.url, options["api-key"]);
  const report = await importPrompts({ from, to, isDry, print }, name === "" ? [] : [name]);
  const verb = isDry ? "would be copied" : "copied";
  print(`${report.prompts} prompts with ${report.commits} new commits and ${report.tags} tags ${verb}.`);
  for (const left of report.left) console.error(`Not taken: ${left}`);
  if (report.left.length > 0) process.exitCode = 1;
}
