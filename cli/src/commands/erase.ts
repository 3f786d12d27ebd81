import { confirm } from "../core/confirm.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { type ErasureOnWire, erasureLine, resolveProject, TraceApi, watchErasure } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { formatTable } from "../core/table.ts";
import { isUuid } from "../core/uuid.ts";

export const summary = "Erase traces, a project or a workspace, also from the disk";

export const command = declareActions({
  noun: "erase",
  about: `Deletes runs with their feedback, attachments and shares, and waits until nothing of them is
left on disk, which takes about ten minutes. Needs a key that may manage the workspace. What is
under legal hold is not erased: heddle holds.`,
  actions: {
    status: {
      summary: "Wait for the end of an erasure and show it; with --no-wait, show it now.",
      argument: { placeholder: "ID", what: "id of the erasure", flag: "id", isUuid: true, list: "heddle erase list" },
    },
    list: { summary: "List erasures and deletions of the workspace, newest first." },
  },
  bare: `heddle erase (--workspace ID | --project ID | --traces A,B) [options]`,
  flags: {
    ...TRACE_FLAGS,
    workspace: { type: "text", placeholder: "ID", description: "Erase everything in the workspace of the key." },
    project: { type: "text", placeholder: "ID", description: "Erase a project, by id or name." },
    traces: { type: "text", placeholder: "A,B", description: "Erase traces, by id." },
    "dataset-copies": {
      type: "switch",
      default: false,
      description: "Also erase the examples made of these runs; of a workspace all its datasets.",
    },
    yes: { type: "switch", default: false, description: "Do not ask for confirmation." },
    wait: { type: "switch", default: true, description: "Do not wait until the data has left the disk." },
    id: { type: "text", placeholder: "ID", only: ["status"], description: "Id of the erasure." },
    json: { type: "switch", default: false, description: "Print as JSON." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const api = new TraceApi(options.url, options["api-key"]);
  const print = (erasure: ErasureOnWire) =>
    process.stdout.write(`${options.json ? JSON.stringify(erasure) : erasureLine(erasure)}\n`);
  const follow = async (erasure: ErasureOnWire) => print(options.wait ? await watchErasure(api, erasure.id) : erasure);
  if (action === "list") {
    const all = await api.send<ErasureOnWire[]>("GET", "/erasures");
    if (options.json) return void process.stdout.write(`${JSON.stringify(all)}\n`);
    const rows = all.map((row) => [row.id, row.scope, row.status, row.requested_at, row.done_at ?? ""]);
    process.stdout.write(formatTable(["ID", "SCOPE", "STATUS", "REQUESTED", "DONE"], rows));
  } else if (action === "status") {
    await follow(await api.send<ErasureOnWire>("GET", `/erasures/${argument}`));
  } else {
    const { body, what } = await readTarget(api, options);
    const copies = options["dataset-copies"] ? " and the examples made of it" : "";
    const question = `Erase ${what}${copies} from ${options.url}? This cannot be undone.`;
    if (!options.yes && !(await confirm(question))) throw new Error("Nothing was erased.");
    const request = { ...body, dataset_copies: options["dataset-copies"] };
    await follow(await api.send<ErasureOnWire>("POST", "/erasures", request));
  }
}

interface TargetFlags {
  workspace?: string | undefined;
  project?: string | undefined;
  traces?: string | undefined;
}

async function readTarget(api: TraceApi, { workspace, project, traces }: TargetFlags) {
  if ([workspace, project, traces].filter((target) => target !== undefined).length !== 1) {
    throw new UsageError("heddle erase needs one of --workspace, --project and --traces.");
  }
  if (project !== undefined) {
    return { body: { session_id: await resolveProject(api, project) }, what: `project ${project}` };
  }
  if (workspace !== undefined) {
    if (!isUuid(workspace)) throw new UsageError(`--workspace needs the id of the workspace, not "${workspace}".`);
    return { body: { workspace_id: workspace }, what: `all traces of workspace ${workspace}` };
  }
  const ids = traces!.split(",").map((id) => id.trim());
  const wrong = ids.find((id) => !isUuid(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not the id of a trace.`);
  return { body: { trace_ids: ids }, what: ids.length === 1 ? `trace ${ids[0]}` : `${ids.length} traces` };
}
