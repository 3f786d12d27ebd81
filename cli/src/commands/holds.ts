import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";
import { resolveProject, TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { isUuid } from "../core/uuid.ts";

const flags = {
  ...TRACE_FLAGS,
  project: {
    type: "text",
    placeholder: "ID",
    description: "For place: hold a project, by id or name. Default: the whole workspace.",
  },
  reason: { type: "text", placeholder: "TEXT", description: "For place: why, for example a case number." },
  id: { type: "text", placeholder: "ID", description: "For release: id of the hold." },
  all: { type: "switch", default: false, description: "For list: also released holds." },
  json: { type: "switch", default: false, description: "Print as JSON." },
} as const satisfies Record<string, FlagSpec>;

interface HoldOnWire {
  id: string;
  session_id: string | null;
  reason: string;
  created_by: string;
  created_at: string;
  released_at: string | null;
}

export const summary = "Place and release legal holds, which prevent deletion";

export function help(): string {
  return `Usage: heddle holds ACTION [options]

While a hold is active, nothing of its project, or of the workspace, is deleted: requests get
409, and retention keeps it. Needs a key that may manage the workspace.

Actions:
  list        List the workspace's active holds.
  place       Place a hold: heddle holds place --reason TEXT [--project ID].
  release     Release a hold: heddle holds release ID. Its record stays.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const wordCount = (first: string | undefined) => (first === "release" ? 2 : 1);
  const { words, options: given } = readArguments(flags, args, process.env, wordCount);
  const [action = "", id = given.id] = words;
  const options = { ...given, id };
  const api = new TraceApi(options.url, options["api-key"]);
  const print = (hold: HoldOnWire, done: string) =>
    process.stdout.write(`${options.json ? JSON.stringify(hold) : `Hold ${hold.id} ${done}.`}\n`);
  if (action === "list") {
    const all = await api.send<HoldOnWire[]>("GET", `/legal-holds${options.all ? "" : "?active=true"}`);
    if (options.json) return void process.stdout.write(`${JSON.stringify(all)}\n`);
    const rows = all.map((row) => [
      row.id,
      row.session_id ?? "workspace",
      formatTime(new Date(row.created_at), ""),
      row.released_at === null ? "active" : `released ${formatTime(new Date(row.released_at), "")}`,
      row.created_by,
      row.reason,
    ]);
    process.stdout.write(formatTable(["ID", "PROJECT", "PLACED", "STATUS", "BY", "REASON"], rows));
  } else if (action === "place") {
    if (options.reason === undefined) throw new UsageError("heddle holds place needs --reason.");
    const session_id = options.project === undefined ? undefined : await resolveProject(api, options.project);
    print(await api.send<HoldOnWire>("POST", "/legal-holds", { session_id, reason: options.reason }), "placed");
  } else if (action === "release") {
    if (options.id === undefined || !isUuid(options.id)) {
      throw new UsageError("heddle holds release needs the id of a hold. To list ids: heddle holds list");
    }
    print(await api.send<HoldOnWire>("DELETE", `/legal-holds/${options.id}`), "released");
  } else {
    throw new UsageError(`${action ? `There is no action "${action}"` : "Missing action"}: list, place or release.`);
  }
}
