import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";

const flags = {
  ...DATA_FLAGS,
  thread: { type: "text", description: "Only this thread.", placeholder: "ID" },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Store checkpoints so that LangGraph's own saver can read them";

export function help(): string {
  return `Usage: heddle checkpoints expand [options]

Heddle stores long lists, such as the messages of a conversation, as the changes of each step.
LangGraph's Postgres saver cannot read those. "expand" stores every version of them whole, which
may take much more space. Servers may run meanwhile; runs that follow store changes again.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const { words, options } = readArguments(flags, args, process.env, 1);
  const [action = ""] = words;
  if (action !== "expand") throw new UsageError(`heddle checkpoints needs the action expand, not "${action}".`);
  const { expandCheckpoints } = await import("../../../server/src/admin/checkpoints.ts");
  let threads = 0;
  let versions = 0;
  await expandCheckpoints(readDataLocation(options), options.thread, (thread, count) => {
    threads += 1;
    versions += count;
    process.stderr.write(`${thread}: ${count} versions\n`);
  });
  process.stdout.write(`Stored ${versions} versions of lists in ${threads} threads whole.\n`);
}
