import { ControlApi, type DeploymentOnWire, type RevisionOnWire } from "../core/control-api.ts";
import { CONTROL_FLAGS, revisionId } from "../core/control-flags.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";
import { followRevision } from "../core/follow-revision.ts";

const flags = {
  ...CONTROL_FLAGS,
  to: {
    type: "text",
    placeholder: "ID",
    defaultNote: "the previous one",
    description: "Revision to roll back to.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Roll back a deployment to an earlier revision, without a build";

export function help(): string {
  return `Usage: heddle rollback NAME [options]

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const { words, options } = readArguments(flags, args, process.env, 1);
  const api = new ControlApi(options.url, options["api-key"]);
  if (words[0] === undefined) throw new UsageError("The name of the deployment is missing: heddle rollback NAME");
  const requestedRevision = revisionId("--to", options.to);
  const deployment = await api.find(words[0]);
  const target = requestedRevision ?? (await served(api, deployment));
  const path = `/v2/deployments/${deployment.id}/revisions/${target}/redeploy`;
  const changed = await api.send<DeploymentOnWire>("POST", path);
  const print = (line: string) => process.stderr.write(`${line}\n`);
  const revision = await followRevision(api, deployment.id, changed.latest_revision_id!, print);
  if (revision.status !== "DEPLOYED") {
    throw new Error(`The revision is ${revision.status}. ${revision.status_message ?? ""}`.trim());
  }
  process.stdout.write(
    `${changed.source_config.custom_url ?? deployment.name} is rolled back to revision ${target}.\n`,
  );
}

/** Finds the deployed revision before the one that serves, which may be older than the newest hundred. */
async function served(api: ControlApi, { id, name, active_revision_id: active }: DeploymentOnWire): Promise<string> {
  let isFound = active === null;
  for (let offset = 0; ; offset += PAGE) {
    const path = `/v2/deployments/${id}/revisions?status=DEPLOYED&limit=${PAGE}&offset=${offset}`;
    const { resources } = await api.send<{ resources: RevisionOnWire[] }>("GET", path);
    for (const resource of resources) {
      if (isFound) return resource.id;
      isFound = resource.id === active;
    }
    if (resources.length < PAGE) throw new Error(`${name} has no earlier revision that was deployed.`);
  }
}

const PAGE = 100;
