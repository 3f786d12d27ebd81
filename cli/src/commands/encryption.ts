import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";

export const summary = "Manage the keys that encrypt stored state";

export const command = declareActions({
  noun: "encryption",
  about: `Stored state (checkpoints, values, inputs, streams, store items) is encrypted with data keys, and
these with LANGGRAPH_AES_KEY or the project's own handlers; see docs/encryption.md.`,
  actions: {
    status: { summary: "List the keys, which one is the newest, and how many data keys need each." },
    rotate: {
      summary:
        "Encrypt all data keys with LANGGRAPH_AES_KEY; servers keep running. The earlier key must be in HEDDLE_OLD_AES_KEYS, and can be removed afterwards.",
    },
  },
  flags: DATA_FLAGS,
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const location = readDataLocation(options);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const admin = await import("../../../server/src/admin/encryption.ts");
  if (action === "status") {
    const { keys } = await admin.encryptionStatus(location, process.env);
    for (const { id, given, newest, dataKeys } of keys) {
      const notes = [`${dataKeys} data keys`, ...(newest ? ["newest"] : []), ...(given ? [] : ["MISSING"])];
      print(`${id}  ${notes.join(", ")}`);
    }
    if (keys.length === 0) print("Nothing is encrypted, and LANGGRAPH_AES_KEY is not set.");
    if (keys.some((key) => !key.given && key.dataKeys > 0)) process.exitCode = 1;
    return;
  }
  const { to, rewrapped, left } = await admin.rotateEncryption(location, process.env);
  print(`${rewrapped} data keys encrypted with ${to}.`);
  for (const { id, dataKeys } of left) {
    const why = id === "custom" ? "the handlers of the project" : `the key ${id}, which is not in HEDDLE_OLD_AES_KEYS`;
    console.error(`${dataKeys} data keys still need ${why}.`);
  }
  if (left.some(({ id }) => id !== "custom")) process.exitCode = 1;
}
