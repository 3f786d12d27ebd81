import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";

export const summary = "Manage the encryption keys of stored secrets";

export const command = declareActions({
  noun: "secrets",
  about: `Stored secrets (credentials, webhook secrets, deployment secrets) are encrypted with keys from
HEDDLE_SECRETS_KEYS or a key file; see docs/installation.md.`,
  actions: {
    status: { summary: "List the keys, which one is current, and how many secrets each encrypts." },
    rotate: {
      summary:
        "Re-encrypt all secrets with a new key; servers keep running. With a key file, creates the key; with HEDDLE_SECRETS_KEYS, first put a new key in front on all servers. Can be repeated after an interruption.",
    },
    retire: {
      summary:
        "Remove a key that encrypts no secret any more (--key ID). Keep a copy: backups from before the rotation need it, and heddle audit verify needs it for older lines.",
    },
    generate: { summary: "Print a new key in the format of HEDDLE_SECRETS_KEYS and key files." },
  },
  flags: {
    ...DATA_FLAGS,
    key: { type: "text", placeholder: "ID", only: ["retire"], description: "Id of the key to remove." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const location = () => readDataLocation(options);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const admin = () => import("../../../server/src/admin/secrets.ts");
  if (action === "generate") print((await admin()).generateSecretsKey());
  else if (action === "status") {
    const { source, keys } = await (await admin()).secretsStatus(location(), process.env);
    print(`Keys from ${source}:`);
    for (const { id, given: atHand, current, secrets } of keys) {
      const notes = [`${secrets} secrets`, ...(current ? ["current"] : []), ...(atHand ? [] : ["MISSING"])];
      print(`  ${id}  ${notes.join(", ")}`);
    }
    if (keys.some((key) => !key.given && key.secrets > 0)) process.exitCode = 1;
  } else if (action === "rotate") {
    const done = await (
      await admin()
    ).rotate(location(), process.env, (count) => console.error(`${count} secrets re-encrypted`));
    print(`${done.rewrapped} secrets re-encrypted; all secrets now use the key ${done.to}.`);
    for (const id of done.freed)
      print(`No secret uses the key ${id} any more. To remove it: heddle secrets retire --key ${id}`);
    for (const { purpose, id } of done.damaged) console.error(`cannot be decrypted and was skipped: ${purpose} ${id}`);
    if (done.damaged.length > 0) process.exitCode = 1;
  } else {
    if (options.key === undefined) throw new UsageError("heddle secrets retire needs --key ID.");
    const { removed, source } = await (await admin()).retireKey(location(), process.env, options.key);
    print(
      removed ? `Removed ${options.key} from ${source}.` : `No secret uses ${options.key}. Remove it from ${source}.`,
    );
  }
}
