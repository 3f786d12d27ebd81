import { PLACE_FLAGS, readPlace } from "../core/data-place.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";

const flags = { ...PLACE_FLAGS } as const satisfies Record<string, FlagSpec>;

export const summary = "Where attachments of traces and examples are kept";

export function help(): string {
  return `Usage: heddle blobs ACTION [options]

Attachments are kept in a directory (HEDDLE_BLOB_DIRECTORY, by default blobs in the data directory)
or in a bucket (HEDDLE_BLOB_BUCKET and its settings). The database records which, and a trace
process that would keep them elsewhere is refused.

Actions:
  status      The recorded place, and whether a trace process uses it.
  move        Copy the directory's files into HEDDLE_BLOB_BUCKET and record the bucket.
              Most of it can be done while the trace platform runs; stop it and run it again for
              the rest. Can be run again when it was interrupted. The directory stays as it is.
  adopt       Record the place that the environment names, without copying anything: after files
              were copied by other means, or are lost.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const [action = "", ...rest] = args;
  const given = readFlags(flags, rest, process.env);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const admin = () => import("../../../server/src/admin/blobs.ts");
  if (action === "status") {
    const { shown, inUse, isAlive } = await (await admin()).blobsStatus(readPlace(given));
    const notes = [inUse ? "in use" : "empty so far", isAlive ? "a trace process is running" : "no trace process runs"];
    print(shown === null ? "No place is recorded yet." : `${shown} (${notes.join(", ")})`);
  } else if (action === "move") {
    const { copied, there, bytes, from, to } = await (
      await admin()
    ).moveToBucket(readPlace(given), process.env, (moved) => console.error(`${moved.copied + moved.there} files`));
    print(`${copied} files copied (${bytes} bytes), ${there} were there. Attachments are kept in ${to} now.`);
    print(`Start trace processes with HEDDLE_BLOB_BUCKET; ${from} is not needed any more.`);
  } else if (action === "adopt") {
    const { before, now } = await (await admin()).adoptPlace(readPlace(given), process.env);
    print(`Attachments are kept in ${now} now${before === null ? "" : `, before in ${before}`}.`);
  } else {
    throw new UsageError(`heddle blobs needs an action: status, move or adopt, not "${action}".`);
  }
}
