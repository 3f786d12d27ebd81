import { text as readAll } from "node:stream/consumers";

import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { formatTable } from "../core/table.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";

export const summary = "Create, list, disable and enable users, set passwords, and unlink identities";

export const command = declareActions({
  noun: "users",
  actions: {
    create: { summary: "Create a user (--email). Prints a generated password once, unless one is given." },
    list: { summary: "List all users." },
    password: { summary: "Set a user's password (--email) and end the user's sessions." },
    disable: { summary: "Disable a user (--email): block sign-in and the user's keys." },
    enable: { summary: "Enable a disabled user (--email)." },
    unlink: { summary: "Forget a user's identity at the provider (--email). The next sign-in sets a new one." },
  },
  flags: {
    email: { type: "text", placeholder: "ADDRESS", description: "E-mail address of the user." },
    name: { type: "text", placeholder: "NAME", only: ["create"], description: "Full name." },
    role: {
      type: "text",
      placeholder: "ROLE",
      default: "admin",
      only: ["create"],
      description: "Admin (of the organization), editor or viewer (of one workspace).",
    },
    workspace: { type: "text", placeholder: "ID", only: ["create"], description: "Workspace, if not the default one." },
    "password-stdin": {
      type: "switch",
      default: false,
      only: ["create", "password"],
      description: "Read the password from standard input instead of generating one.",
    },
    password: {
      type: "switch",
      default: true,
      only: ["create"],
      description: "No password, for a user who signs in at the identity provider only.",
    },
    ...DATA_FLAGS,
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const admin = await import("../../../server/src/admin/users.ts");
  const location = readDataLocation(options);
  if (action === "list") {
    const rows = (await admin.listUsers(location)).map((user) => [
      user.email,
      user.full_name ?? "",
      [...user.roles, ...(user.has_password ? [] : ["no password"]), ...(user.disabled ? ["DISABLED"] : [])].join(", "),
    ]);
    process.stdout.write(formatTable(["EMAIL", "NAME", "ROLES"], rows));
    return;
  }
  const { email } = options;
  if (email === undefined) throw new UsageError(`heddle users ${action} needs --email.`);
  if (action === "create") {
    const role = admin.USER_ROLES.find((role) => role === options.role);
    if (!role) throw new UsageError(`--role must be one of ${admin.USER_ROLES.join(", ")}, not "${options.role}".`);
    const typed = await readPassword(options["password-stdin"]);
    const password = !options.password ? ("none" as const) : typed === null ? ("generate" as const) : { given: typed };
    const user = { email, fullName: options.name ?? null, role, workspaceId: options.workspace, password };
    const created = await admin.createUser(location, user);
    print(
      `${email} is ${role} of ${role === "admin" ? "the organization and all its workspaces" : created.workspace}.`,
    );
    if (created.password !== null) print(`Password, shown only once: ${created.password}`);
  } else if (action === "password") {
    const generated = await admin.resetPassword(location, email, await readPassword(options["password-stdin"]));
    print(generated === null ? "The password is set." : `Password, shown only once: ${generated}`);
  } else if (action === "unlink") {
    await admin.unlinkUser(location, email);
    print(`${email} has no identity at a provider now.`);
  } else {
    await admin.disableUser(location, email, action === "disable");
    print(`${email} is ${action}d.`);
  }
}

/** Reads a password, never from the command line itself, which other users of the machine can see. */
const readPassword = async (fromStdin: boolean): Promise<string | null> =>
  fromStdin ? (await readAll(process.stdin)).replace(/\r?\n$/, "") : null;
