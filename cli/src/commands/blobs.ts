import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";

const flags = { ...DATA_FLAGS } as const satisfies Record<string, FlagSpec>;

export const summary = "Show, move or adopt the location of attachments";

export function help(): string {
  return `Usage: heddle blobs ACTION [options]

Attachments are stored in a directory (HEDDLE_BLOB_DIRECTORY, default: blobs in the data directory)
or in a bucket (HEDDLE_BLOB_BUCKET and its settings). The database records the location, and a trace
process with another location does not start.

Actions:
  status      Show the recorded location, and whether a trace process uses it.
  move        Copy the directory's files into HEDDLE_BLOB_BUCKET and record the bucket.
              Can run while the trace platform runs; then stop the platform and run it again for
              the remaining files. Can be repeated after an interruption. Deletes no files.
  adopt       Record the location in the environment without copying files: after the files
              were copied by other means, or were lost.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const { words, options } = readArguments(flags, args, process.env, 1);
  const [action = ""] = words;
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
  } else if (action === "adopt") {
    const { before, now } = await (await admin()).adoptLocation(readDataLocation(options), process.env);
    print(`Attachments are now stored in ${now}${before === null ? "" : ` (previously in ${before})`}.`);
  } else {
    throw new UsageError(`heddle blobs needs an action: status, move or adopt, not "${action}".`);
  }
}
