import { ControlApi, type RevisionOnWire } from "../core/control-api.ts";
import { CONTROL_FLAGS } from "../core/control-flags.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";

const flags = {
  ...CONTROL_FLAGS,
  limit: {
    type: "integer",
    placeholder: "N",
    default: 20,
    min: 1,
    max: 100,
    description: "Number of revisions, newest first.",
  },
  json: { type: "switch", default: false, description: "Print as JSON." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "List the revisions of a deployment";

export function help(): string {
  return `Usage: heddle revisions NAME [options]

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const { words, options } = readArguments(flags, args, process.env, 1);
  const api = new ControlApi(options.url, options["api-key"]);
  if (words[0] === undefined) throw new UsageError("The name of the deployment is missing: heddle revisions NAME");
  const { id, active_revision_id: active } = await api.find(words[0]);
  const path = `/v2/deployments/${id}/revisions?limit=${options.limit}`;
  const { resources } = await api.send<{ resources: RevisionOnWire[] }>("GET", path);
  if (options.json) return void process.stdout.write(`${JSON.stringify(resources)}\n`);
  const rows = resources.map((resource) => [
    resource.id,
    resource.id === active ? "serves" : resource.status === "DEPLOYED" ? "replaced" : resource.status,
    formatTime(new Date(resource.created_at), ""),
    resource.status_message ?? "",
  ]);
  process.stdout.write(formatTable(["REVISION", "STATUS", "CREATED", "WHY"], rows));
}
