import { PLACE_FLAGS, readPlace } from "../core/data-place.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";

const flags = {
  ...PLACE_FLAGS,
  key: { type: "text", placeholder: "ID", description: "For retire: the key to take out." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Keys that stored secrets are encrypted with";

export function help(): string {
  return `Usage: heddle secrets ACTION [options]

Stored secrets (credentials, webhook secrets, deployment secrets) are encrypted with keys from
HEDDLE_SECRETS_KEYS or a key file; see the README.

Actions:
  status      Which keys there are, which one is current, and how many secrets are under each.
  rotate      Move everything under a new key while servers work on. With a key file it makes the
              key; with HEDDLE_SECRETS_KEYS put one in front for all servers first. Can be run again
              when it was interrupted.
  retire      Take a key out that no secret is under any more (--key ID). Backups from before the
              rotation need it, and heddle audit verify for the lines from before: keep a copy.
  generate    Print a new key, as HEDDLE_SECRETS_KEYS and key files have it.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const [action = "", ...rest] = args;
  const given = readFlags(flags, rest, process.env);
  const place = () => readPlace(given);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const admin = () => import("../../../server/src/admin/secrets.ts");
  if (action === "generate") print((await admin()).generateSecretsKey());
  else if (action === "status") {
    const { source, keys } = await (await admin()).secretsStatus(place(), process.env);
    print(`Keys from ${source}:`);
    for (const { id, given: atHand, current, secrets } of keys) {
      const notes = [`${secrets} secrets`, ...(current ? ["current"] : []), ...(atHand ? [] : ["MISSING"])];
      print(`  ${id}  ${notes.join(", ")}`);
    }
    if (keys.some((key) => !key.given && key.secrets > 0)) process.exitCode = 1;
  } else if (action === "rotate") {
    const done = await (await admin()).rotate(place(), process.env, (count) => console.error(`${count} secrets moved`));
    print(`${done.rewrapped} secrets moved; all are sealed with ${done.to} now.`);
    for (const id of done.freed) print(`No secret is under ${id} any more: heddle secrets retire --key ${id}`);
    for (const { purpose, id } of done.damaged) console.error(`cannot be opened and stays as it is: ${purpose} ${id}`);
    if (done.damaged.length > 0) process.exitCode = 1;
  } else if (action === "retire") {
    if (given.key === undefined) throw new UsageError("heddle secrets retire needs --key ID.");
    const { removed, source } = await (await admin()).retireKey(place(), process.env, given.key);
    print(removed ? `${given.key} is out of ${source}.` : `Nothing needs ${given.key}: take it out of ${source}.`);
  } else {
    throw new UsageError(`heddle secrets needs an action: status, rotate, retire or generate, not "${action}".`);
  }
}
