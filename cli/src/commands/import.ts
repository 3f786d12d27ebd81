import { DATA_FLAGS } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { reportLeft, runCopy } from "./import/open-copy.ts";
import { importPrompts } from "./prompts/import-prompts.ts";

export const summary = "Copy agents, traces and prompts from another server or an export";

const AGENT_URL = "http://127.0.0.1:2024";

export const command = declareActions({
  noun: "import",
  about: `Copies objects from a server of the same API, or from a directory of heddle export, into a server.
It can be repeated: what was copied is compared and not copied again. Examples:

  heddle import agents --from http://127.0.0.1:2025 --url http://127.0.0.1:2024
  heddle import traces --from https://api.smith.langchain.com --from-key lsv2_… --project support
  heddle import prompts --from https://heddle.example --from-key lsv2_…

What each action does not take is in docs/moving.md.`,
  actions: {
    agents: {
      summary:
        "Copy assistants, threads with their history, crons and store items of an agent server. Exits with 1 when something was left out.",
    },
    traces: {
      summary:
        "Copy projects with runs and feedback, datasets with versions, prompts and prices of a trace platform. Exits with 1 when something was left out.",
    },
    prompts: {
      summary:
        "Copy prompts, agents and skills with their commits, tags and READMEs. Exits with 1 when something was left out.",
      argument: { placeholder: "NAME", what: "name of the prompt", isOptional: true },
    },
  },
  flags: {
    url: {
      type: "text",
      placeholder: "URL",
      defaultNote: `${AGENT_URL} for agents, otherwise ${TRACE_FLAGS.url.env[0]} or ${TRACE_FLAGS.url.default}`,
      description: "URL of the server to write.",
    },
    "api-key": TRACE_FLAGS["api-key"],
    from: {
      type: "text",
      placeholder: "URL",
      description: "URL of the server to read; for agents and traces also the directory of an export.",
    },
    "from-key": {
      type: "text",
      placeholder: "KEY",
      env: ["HEDDLE_IMPORT_KEY"],
      description: "API key of the workspace to read.",
    },
    project: {
      type: "list",
      placeholder: "NAME",
      only: ["traces"],
      description: "Copy only this project, with the dataset of its experiment. Can be repeated.",
    },
    since: {
      type: "text",
      placeholder: "TIME",
      only: ["traces"],
      description: "Copy only runs that started at this time or later, ISO 8601.",
    },
    "enable-crons": {
      type: "switch",
      default: false,
      only: ["agents"],
      description: "Enable the copied crons that are enabled at the source. Otherwise they are created disabled.",
    },
    state: {
      type: "text",
      placeholder: "FILE",
      only: ["agents", "traces"],
      defaultNote: "a file in the data directory",
      description: "File with the position of an interrupted copy, which the next call continues.",
    },
    "data-dir": DATA_FLAGS["data-dir"],
    "dry-run": { type: "switch", default: false, description: "Change nothing, and print what would be copied." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument: name, options } = readAction(command, args);
  const { from, since, "dry-run": isDry } = options;
  if (from === undefined) throw new UsageError("--from is missing: the URL of the server to read.");
  if (since !== undefined && Number.isNaN(Date.parse(since)))
    throw new UsageError(`--since must be a time, not "${since}".`);
  const url =
    options.url ?? (action === "agents" ? AGENT_URL : (process.env[TRACE_FLAGS.url.env[0]] ?? TRACE_FLAGS.url.default));
  if (action !== "prompts") {
    const source = { place: from, key: options["from-key"] };
    const target = { place: url, key: options["api-key"] };
    const copied = await runCopy(action, source, target, {
      isDry,
      enableCrons: options["enable-crons"],
      selection: { projects: options.project, since },
      dataDirectory: options["data-dir"],
      state: options.state,
    });
    return reportLeft(copied.left);
  }
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const places = {
    from: new TraceApi(from, options["from-key"]),
    to: new TraceApi(url, options["api-key"]),
    isDry,
    print,
  };
  const report = await importPrompts(places, name === "" ? [] : [name]);
  const verb = isDry ? "would be copied" : "copied";
  print(`${report.prompts} prompts with ${report.commits} new commits and ${report.tags} tags ${verb}.`);
  reportLeft(report.left);
}
