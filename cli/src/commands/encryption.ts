import type { reencrypt, ReencryptOptions } from "../../../server/src/admin/encryption.ts";
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
    reencrypt: {
      summary:
        "Rotate, and then encrypt all stored state that is in clear or was encrypted before a rotation; servers keep running. Can be stopped at any time and repeated.",
    },
  },
  flags: {
    ...DATA_FLAGS,
    config: {
      type: "text",
      placeholder: "FILE",
      description: "langgraph.json of a project with encryption handlers, which then encrypt the data keys.",
    },
  },
});

export const help = (): string => describeActions(command);

const print = (line: string) => process.stdout.write(`${line}\n`);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const location = readDataLocation(options);
  const admin = await import("../../../server/src/admin/encryption.ts");
  if (action === "reencrypt")
    return showReencrypted(await admin.reencrypt(location, process.env, reports(options.config)));
  if (action === "status") {
    const { keys } = await admin.encryptionStatus(location, process.env, options.config);
    for (const { id, given, newest, dataKeys, replaced } of keys) {
      const from = replaced > 0 ? ` (${replaced} from before a rotation)` : "";
      const notes = [`${dataKeys} data keys${from}`, ...(newest ? ["newest"] : []), ...(given ? [] : ["MISSING"])];
      print(`${id}  ${notes.join(", ")}`);
    }
    if (keys.length === 0) print("Nothing is encrypted, and LANGGRAPH_AES_KEY is not set.");
    if (keys.some((key) => !key.given && key.dataKeys > 0)) process.exitCode = 1;
    return;
  }
  const { to, rewrapped, left } = await admin.rotateEncryption(location, process.env, options.config);
  print(`${rewrapped} data keys encrypted with ${to}.`);
  for (const { id, dataKeys } of left) {
    const why =
      id === "custom"
        ? "the handlers of the project: name its langgraph.json with --config"
        : `the key ${id}, which is not in HEDDLE_OLD_AES_KEYS`;
    console.error(`${dataKeys} data keys still need ${why}.`);
  }
  if (left.some(({ id }) => id !== "custom")) process.exitCode = 1;
}

/** Progress lines, at most one a second for each table. */
function reports(config: string | undefined): ReencryptOptions {
  let printed = "";
  let at = 0;
  return {
    config,
    onProgress({ pass, table, examined, encrypted }) {
      const of = `pass ${pass}, ${table}`;
      if (of === printed && performance.now() - at < 1000) return;
      printed = of;
      at = performance.now();
      process.stderr.write(`${of}: ${examined} rows examined, ${encrypted} encrypted\n`);
    },
    onWait: () => console.error("A new data key was created. Servers use it in a minute; waiting."),
  };
}

function showReencrypted(done: Awaited<ReturnType<typeof reencrypt>>): void {
  print(`${done.encrypted} rows encrypted.`);
  if (done.held > 0)
    console.error(
      `${done.held} answers to interrupts belong to unfinished runs. Repeat the command when these have ended.`,
    );
  if (done.broken > 0)
    console.error(`${done.broken} rows cannot be decrypted, and were left. The first: ${done.reason}`);
  if (!done.complete)
    console.error(
      "Servers still write values with an earlier key, or in clear. Restart them with the newest key, and repeat.",
    );
  if (!done.complete || done.held > 0 || done.broken > 0) process.exitCode = 1;
}
