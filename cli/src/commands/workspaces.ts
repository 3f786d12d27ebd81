import { isUuid } from "../core/uuid.ts";
import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";

const PLANS = ["developer", "plus", "enterprise"] as const;

export const summary = "Create, list and update workspaces";

export const command = declareActions({
  noun: "workspaces",
  about: `Works directly on the platform's data; no server has to run. Traces, deployments and keys belong to
a workspace; the first start creates one.`,
  actions: {
    list: { summary: "List workspaces." },
    create: { summary: `Create one: heddle workspaces create --name "Team A"` },
    update: { summary: "Change name or plan: heddle workspaces update --id ID --plan plus" },
    "hand-over": {
      summary:
        "Assign an agent server's database, with all its threads and runs, to a workspace: heddle workspaces hand-over --id ID. Stop the agent servers first.",
    },
  },
  flags: {
    ...DATA_FLAGS,
    name: { type: "text", placeholder: "TEXT", only: ["create", "update"], description: "Name of the workspace." },
    plan: {
      type: "text",
      placeholder: "PLAN",
      only: ["create", "update"],
      description: `${PLANS.join(", ")}. Default for create: enterprise.`,
    },
    id: { type: "text", placeholder: "ID", only: ["update", "hand-over"], description: "Id of the workspace." },
    json: { type: "switch", default: false, description: "Print as JSON." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const admin = () => import("../../../server/src/admin/workspaces.ts");
  const plan = readPlan(options.plan);
  const show = (all: Workspace[]) =>
    process.stdout.write(options.json ? `${JSON.stringify(all)}\n` : formatTable(HEAD, all.map(toRow)));
  if (action === "list") {
    const location = readDataLocation(options);
    show(await (await admin()).listWorkspaces(location));
  } else if (action === "create") {
    const { name } = options;
    if (name === undefined) throw new UsageError('A workspace needs a name: --name "Team A".');
    const location = readDataLocation(options);
    show([await (await admin()).createWorkspace(location, { name, plan: plan ?? "enterprise" })]);
  } else if (action === "update") {
    const { id, name } = options;
    if (id === undefined || !isUuid(id))
      throw new UsageError("--id ID is missing. To list ids: heddle workspaces list");
    if (name === undefined && plan === null) throw new UsageError("Nothing to change: pass --name or --plan.");
    const location = readDataLocation(options);
    const changed = await (await admin()).changeWorkspace(location, id, { name: name ?? null, plan });
    if (!changed) throw new Error(`There is no workspace ${id}.`);
    show([changed]);
  } else {
    const { id } = options;
    if (id === undefined || !isUuid(id))
      throw new UsageError("--id ID is missing: the workspace that gets the database.");
    await (await admin()).handOverDatabase(readDataLocation(options), id.toLowerCase());
    process.stdout.write(`The database now belongs to workspace ${id.toLowerCase()}.\n`);
  }
}

interface Workspace {
  id: string;
  display_name: string;
  plan: string;
  is_default: boolean;
  created_at: Date;
}

const HEAD = ["ID", "NAME", "PLAN", "CREATED", ""];

const toRow = (workspace: Workspace): string[] => [
  workspace.id,
  workspace.display_name,
  workspace.plan,
  formatTime(workspace.created_at, ""),
  workspace.is_default ? "default" : "",
];

function readPlan(text: string | undefined): (typeof PLANS)[number] | null {
  if (text === undefined) return null;
  const plan = PLANS.find((plan) => plan === text);
  if (!plan) throw new UsageError(`--plan must be one of ${PLANS.join(", ")}, not "${text}".`);
  return plan;
}
