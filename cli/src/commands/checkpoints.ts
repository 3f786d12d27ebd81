import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";

export const summary = "Store checkpoints so that LangGraph's own saver can read them";

export const command = declareActions({
  noun: "checkpoints",
  about: `Heddle stores long lists, such as the messages of a conversation, as the changes of each step.
LangGraph's Postgres saver cannot read those. "expand" stores every version of them whole, which
may take much more space. Servers may run meanwhile; runs that follow store changes again.`,
  actions: {
    expand: { summary: "Store every version of every list whole." },
  },
  flags: {
    ...DATA_FLAGS,
    thread: { type: "text", description: "Only this thread.", placeholder: "ID" },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { options } = readAction(command, args);
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
