import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";

export const summary = "Show, move or adopt the location of attachments";

export const command = declareActions({
  noun: "blobs",
  about: `Attachments are stored in a directory (HEDDLE_BLOB_DIRECTORY, default: blobs in the data directory)
or in a bucket (HEDDLE_BLOB_BUCKET and its settings). The database records the location, and a trace
process with another location does not start.`,
  actions: {
    status: { summary: "Show the recorded location, and whether a trace process uses it." },
    move: {
      summary:
        "Copy the directory's files into HEDDLE_BLOB_BUCKET and record the bucket. Can run while the trace platform runs; then stop the platform and run it again for the remaining files. Can be repeated after an interruption. Deletes no files.",
    },
    adopt: {
      summary:
        "Record the location in the environment without copying files: after the files were copied by other means, or were lost.",
    },
  },
  flags: { ...DATA_FLAGS },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const admin = () => import("../../../server/src/admin/blobs.ts");
  if (action === "status") {
    const { shown, inUse, isAlive } = await (await admin()).blobsStatus(readDataLocation(options));
    const notes = [inUse ? "in use" : "empty", isAlive ? "a trace process is running" : "no trace process is running"];
    print(shown === null ? "No location is recorded yet." : `${shown} (${notes.join(", ")})`);
  } else if (action === "move") {
    const { copied, there, bytes, from, to } = await (
      await admin()
    ).moveToBucket(readDataLocation(options), process.env, (moved) =>
      console.error(`${moved.copied + moved.there} files`),
    );
    print(`${copied} files copied (${bytes} bytes), ${there} already there. Attachments are now stored in ${to}.`);
    print(`Start trace processes with HEDDLE_BLOB_BUCKET; ${from} is no longer needed.`);
  } else {
    const { before, now } = await (await admin()).adoptLocation(readDataLocation(options), process.env);
    print(`Attachments are now stored in ${now}${before === null ? "" : ` (previously in ${before})`}.`);
  }
}
