import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";

export const summary = "Create, list and revoke API keys";

export const command = declareActions({
  noun: "keys",
  about: `Works directly on the platform's data; no server has to run. Running servers apply changes within a
second.`,
  actions: {
    create: { summary: "Create a key and print it. It cannot be shown again: only its hash is stored." },
    list: { summary: "List keys and when they were last used." },
    revoke: {
      summary: "Revoke a key.",
      argument: { placeholder: "ID", what: "id of the key", flag: "id", list: "heddle keys list" },
    },
  },
  flags: {
    ...DATA_FLAGS,
    description: {
      type: "text",
      placeholder: "TEXT",
      default: "created on the command line",
      only: ["create"],
      description: "Description of the key.",
    },
    role: {
      type: "text",
      placeholder: "ROLE",
      default: "admin",
      only: ["create"],
      description: "Admin, editor or viewer.",
    },
    "read-only": { type: "switch", default: false, only: ["create"], description: "Create a read-only key." },
    "expires-in": {
      type: "text",
      placeholder: "TIME",
      only: ["create"],
      description: "Lifetime such as 12h, 30d or 1y; by default the key does not expire.",
    },
    workspace: { type: "text", placeholder: "ID", only: ["create"], description: "Workspace, if not the default one." },
    organization: {
      type: "switch",
      default: false,
      only: ["create"],
      description: "All workspaces, and with the role admin also the organization.",
    },
    id: {
      type: "text",
      placeholder: "ID",
      only: ["revoke"],
      description: "Id of the key (see list), or the key itself.",
    },
    all: { type: "switch", default: false, only: ["list"], description: "Include revoked keys." },
    json: { type: "switch", default: false, description: "Print as JSON." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const admin = () => import("../../../server/src/admin/keys.ts");
  const print = (text: string) => process.stdout.write(text);
  if (action === "create") {
    const role = readRole(options.role);
    const wish = {
      description: options.description,
      role,
      readOnly: options["read-only"],
      expiresAt: readExpiry(options["expires-in"]),
      workspaceId: options.workspace,
      ofOrganization: options.organization,
    };
    const location = readDataLocation(options);
    const { id, key, workspace } = await (await admin()).createKeyFor(location, wish);
    if (options.json) return void print(`${JSON.stringify({ id, key, workspace_id: workspace.id })}\n`);
    print(`${key}\n`);
    const reach = options.organization
      ? "all workspaces"
      : `the workspace "${workspace.display_name}" (${workspace.id})`;
    console.error(`Key to ${reach}. It is shown only once. Its id is ${id}.`);
  } else if (action === "list") {
    const location = readDataLocation(options);
    const keys = await (await admin()).listKeys(location, { withRevoked: options.all });
    if (options.json) return void print(`${JSON.stringify(keys)}\n`);
    const head = ["ID", "KEY", "FOR", "WORKSPACES", "LAST USED", "EXPIRES", "DESCRIPTION"];
    const rows = keys.map((key) => [
      key.id,
      key.short_key,
      (key.email ?? key.role_name ?? "") + (key.read_only ? ", read-only" : ""),
      key.workspace_names?.join(", ") ?? "all",
      formatTime(key.last_used_at, "never"),
      key.revoked_at ? `revoked ${formatTime(key.revoked_at, "")}` : formatTime(key.expires_at, "never"),
      key.description,
    ]);
    print(formatTable(head, rows));
  } else {
    const location = readDataLocation(options);
    const revoked = await (await admin()).revoke(location, argument);
    if (!revoked) throw new Error("The key does not exist or is already revoked.");
    print(`Revoked ${revoked.id} (${revoked.description}).\n`);
  }
}

const ROLES = ["admin", "editor", "viewer"] as const;

function readRole(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((role) => role === text);
  if (!role) throw new UsageError(`--role must be admin, editor or viewer, not "${text}".`);
  return role;
}

const HOURS = { h: 1, d: 24, w: 7 * 24, y: 365 * 24 };

function readExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const [, number, unit] = /^(\d{1,5})([hdwy])$/.exec(text) ?? [];
  const hours = Number(number) * HOURS[unit as keyof typeof HOURS];
  if (!(hours > 0)) throw new UsageError(`--expires-in must be a duration such as 12h, 30d, 8w or 1y, not "${text}".`);
  return new Date(Date.now() + hours * 3_600_000);
}
