import { ControlApi, type RevisionOnWire } from "../core/control-api.ts";
import { CONTROL_FLAGS, revisionId } from "../core/control-flags.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";

const flags = {
  ...CONTROL_FLAGS,
  revision: {
    type: "text",
    placeholder: "ID",
    defaultNote: "the newest one",
    description: "Revision to interrupt.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Interrupt the build or the start of a revision";

export function help(): string {
  return `Usage: heddle interrupt NAME [options]

Ends the work on a revision that is not deployed yet. The revision that serves is not affected.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const { words, options } = readArguments(flags, args, process.env, 1);
  const api = new ControlApi(options.url, options["api-key"]);
  if (words[0] === undefined) throw new UsageError("The name of the deployment is missing: heddle interrupt NAME");
  const requestedRevision = revisionId("--revision", options.revision);
  const deployment = await api.find(words[0]);
  const revision = requestedRevision ?? deployment.latest_revision_id;
  if (revision === null) throw new Error(`${deployment.name} has no revision yet.`);
  const path = `/v2/deployments/${deployment.id}/revisions/${revision}/interruption`;
  const { id, status } = await api.send<RevisionOnWire>("POST", path);
  process.stdout.write(`Revision ${id} of ${deployment.name} is ${status}.\n`);
}
