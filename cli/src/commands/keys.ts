import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";

const flags = {
  ...DATA_FLAGS,
  description: {
    type: "text",
    placeholder: "TEXT",
    default: "created on the command line",
    description: "For create: description of the key.",
  },
  role: { type: "text", placeholder: "ROLE", default: "admin", description: "For create: admin, editor or viewer." },
  "read-only": { type: "switch", default: false, description: "For create: create a read-only key." },
  "expires-in": {
    type: "text",
    placeholder: "TIME",
    description: "For create: lifetime such as 12h, 30d or 1y; by default the key does not expire.",
  },
  workspace: { type: "text", placeholder: "ID", description: "For create: workspace, if not the default one." },
  organization: {
    type: "switch",
    default: false,
    description: "For create: all workspaces, and with the role admin also the organization.",
  },
  id: { type: "text", placeholder: "ID", description: "For revoke: id of the key (see list), or the key itself." },
  all: { type: "switch", default: false, description: "For list: include revoked keys." },
  json: { type: "switch", default: false, description: "Print as JSON." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Create, list and revoke API keys";

export function help(): string {
  return `Usage: heddle keys ACTION [options]

Works directly on the platform's data; no server has to run. Running servers apply changes within a
second.

Actions:
  create      Create a key and print it. It cannot be shown again: only its hash is stored.
  list        List keys and when they were last used.
  revoke      Revoke a key: heddle keys revoke ID.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const wordCount = (first: string | undefined) => (first === "revoke" ? 2 : 1);
  const { words, options: given } = readArguments(flags, args, process.env, wordCount);
  const [action = "", id = given.id] = words;
  const options = { ...given, id };
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
  } else if (action === "revoke") {
    if (options.id === undefined)
      throw new UsageError("The id of the key is missing: heddle keys revoke ID. To list ids: heddle keys list");
    const location = readDataLocation(options);
    const revoked = await (await admin()).revoke(location, options.id);
    if (!revoked) throw new Error("The key does not exist or is already revoked.");
    print(`Revoked ${revoked.id} (${revoked.description}).\n`);
  } else {
    throw new UsageError(`${action ? `There is no action "${action}"` : "Missing action"}: create, list or revoke.`);
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
