import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatTable } from "../core/table.ts";
import { TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";

export const summary = "List evaluators, and measure the judges of the library by a model";

const JUDGE = { placeholder: "JUDGE", what: "id of a judge of the library", isOptional: true } as const;

export const command = declareActions({
  noun: "evaluators",
  about: `Lists the evaluators of a workspace and those that ship with Heddle. check lets judges of the
library score their labelled examples by a model of yours, and prints how often they agree with
the labels. Each example is a call of the model, which costs money. Examples:

  heddle evaluators library
  heddle evaluators check --connection openai --model gpt-4o-mini
  heddle evaluators check toxicity --connection openai --json`,
  actions: {
    list: { summary: "List the evaluators of the workspace." },
    library: { summary: "List the evaluators that ship with Heddle." },
    check: {
      summary:
        "Measure judges on their labelled examples: all of them, or JUDGE. Exits with 1 when a judge is below --min-accuracy.",
      argument: JUDGE,
    },
  },
  flags: {
    ...TRACE_FLAGS,
    connection: {
      type: "text",
      placeholder: "NAME",
      only: ["check"],
      description: "Name or id of the model connection.",
    },
    model: {
      type: "text",
      placeholder: "MODEL",
      only: ["check"],
      description: "Name of the model; without it the connection's default.",
    },
    "min-accuracy": {
      type: "text",
      placeholder: "SHARE",
      only: ["check"],
      description: "Least accuracy, from 0 to 1.",
    },
    json: { type: "switch", default: false, description: "Print JSON." },
  },
});

export const help = (): string => describeActions(command);

interface Entry {
  id: string;
  name: string;
  type: string;
  subject: string;
  feedback_keys: string[];
  labelled: number;
}

interface Checked {
  library_id: string;
  items: number;
  errors: number;
  accuracy: number | null;
  kappa: number | null;
  mean_absolute_error: number | null;
  cost_usd: string | null;
}

const print = (text: string): void => void process.stdout.write(text);

export async function run(args: string[]): Promise<void> {
  const { action, argument: judge, options } = readAction(command, args);
  const { json } = options;
  const least = readShare(options["min-accuracy"]);
  if (action === "check" && options.connection === undefined)
    throw new UsageError("heddle evaluators check needs --connection");
  const api = new TraceApi(options.url, options["api-key"]);
  if (action === "list") {
    const { evaluators } = await api.send<{
      evaluators: (Entry & { version: number; judgements: number; spend_usd: number })[];
    }>("GET", "/v1/platform/evaluators?sort_by=name");
    if (json) return print(`${JSON.stringify(evaluators)}\n`);
    const rows = evaluators.map((each) => [
      ...[each.id, each.name, each.type, each.subject, String(each.version), each.feedback_keys.join(", ")],
      ...[String(each.judgements), each.spend_usd.toFixed(4)],
    ]);
    return print(formatTable(["ID", "NAME", "TYPE", "JUDGES", "VERSION", "KEYS", "JUDGEMENTS", "USD"], rows));
  }
  const { evaluators: library } = await api.send<{ evaluators: Entry[] }>("GET", "/v1/platform/evaluators/library");
  if (action === "library") {
    if (json) return print(`${JSON.stringify(library)}\n`);
    const rows = library.map((each) => [
      each.id,
      each.type,
      each.subject,
      each.feedback_keys.join(", "),
      String(each.labelled),
    ]);
    return print(formatTable(["ID", "TYPE", "JUDGES", "KEY", "EXAMPLES"], rows));
  }
  const judges = library.filter(({ id, type }) => type === "llm" && (judge === "" || id === judge));
  if (judges.length === 0) throw new Error(`The library has no judge "${judge}". See heddle evaluators library.`);
  const model = {
    connection_id: await findConnection(api, options.connection!),
    ...(options.model && { model: options.model }),
  };
  const checked: Checked[] = [];
  for (const { id } of judges) {
    const result = await api.send<Checked>("POST", `/v1/platform/evaluators/library/${id}/check`, { model });
    checked.push(result);
    if (!json) console.error(`checked ${id} (${checked.length} of ${judges.length})`);
  }
  print(json ? `${JSON.stringify(checked)}\n` : formatTable(HEAD, checked.map(toRow)));
  const isBelow = ({ accuracy }: Checked) => (accuracy ?? 0) < (least ?? 0);
  if (checked.some(isBelow)) process.exitCode = 1;
}

const HEAD = ["JUDGE", "EXAMPLES", "ERRORS", "ACCURACY", "KAPPA", "MEAN ERROR", "USD"];

const fixed = (value: number | null): string => (value === null ? "-" : value.toFixed(2));

const toRow = (row: Checked): string[] => [
  ...[row.library_id, String(row.items), String(row.errors)],
  ...[fixed(row.accuracy), fixed(row.kappa), fixed(row.mean_absolute_error), row.cost_usd ?? "-"],
];

async function findConnection(api: TraceApi, name: string): Promise<string> {
  const { connections } = await api.send<{ connections: { id: string; name: string }[] }>("GET", "/models/connections");
  const found = connections.find((each) => each.id === name || each.name === name);
  if (!found)
    throw new Error(`There is no model connection "${name}". Create one in the console under Settings, Models.`);
  return found.id;
}

function readShare(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const share = Number(text);
  if (text === "" || !(share >= 0 && share <= 1))
    throw new UsageError(`--min-accuracy must be from 0 to 1, not "${text}".`);
  return share;
}
