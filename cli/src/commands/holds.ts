import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";
import { resolveProject, TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";

interface HoldOnWire {
  id: string;
  session_id: string | null;
  reason: string;
  created_by: string;
  created_at: string;
  released_at: string | null;
}

export const summary = "Place and release legal holds, which prevent deletion";

export const command = declareActions({
  noun: "holds",
  about: `While a hold is active, nothing of its project, or of the workspace, is deleted: requests get
409, and retention keeps it. Needs a key that may manage the workspace.`,
  actions: {
    list: { summary: "List the workspace's active holds." },
    place: { summary: "Place a hold: heddle holds place --reason TEXT [--project ID]." },
    release: {
      summary: "Release a hold. Its record stays.",
      argument: { placeholder: "ID", what: "id of the hold", flag: "id", isUuid: true, list: "heddle holds list" },
    },
  },
  flags: {
    ...TRACE_FLAGS,
    project: {
      type: "text",
      placeholder: "ID",
      only: ["place"],
      description: "Hold a project, by id or name. Default: the whole workspace.",
    },
    reason: { type: "text", placeholder: "TEXT", only: ["place"], description: "Why, for example a case number." },
    id: { type: "text", placeholder: "ID", only: ["release"], description: "Id of the hold." },
    all: { type: "switch", default: false, only: ["list"], description: "Also released holds." },
    json: { type: "switch", default: false, description: "Print as JSON." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
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
  } else {
    print(await api.send<HoldOnWire>("DELETE", `/legal-holds/${argument}`), "released");
  }
}
