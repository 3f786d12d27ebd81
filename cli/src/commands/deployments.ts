import { ControlApi, type DeploymentOnWire } from "../core/control-api.ts";
import { CONTROL_FLAGS } from "../core/control-flags.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { formatTable } from "../core/table.ts";

export const summary = "List, show and delete deployments";

export const command = declareActions({
  noun: "deployments",
  actions: {
    list: { summary: "List the workspace's deployments, newest first. The default action." },
    show: {
      summary: "Show a deployment and its instances.",
      argument: { placeholder: "NAME", what: "name of the deployment" },
    },
    delete: {
      summary: "Stop a deployment and delete all its data.",
      argument: { placeholder: "NAME", what: "name of the deployment" },
    },
  },
  bare: `heddle deployments [options]`,
  flags: {
    ...CONTROL_FLAGS,
    json: { type: "switch", default: false, description: "Print as JSON." },
  },
});

export const help = (): string => describeActions(command);

interface InstanceOnWire {
  id: string;
  revision_id: string;
  state: string;
  memory_bytes: number | null;
  cpu_percent: number | null;
  /** Why a running pod has neither; absent in answers of older control planes. */
  usage_message?: string | null;
  end_reason: string | null;
}

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const api = new ControlApi(options.url, options["api-key"]);
  if (action === undefined || action === "list") return list(api, options.json);
  const deployment = await api.find(argument);
  if (action === "delete") {
    await api.send("DELETE", `/v2/deployments/${deployment.id}`);
    process.stdout.write(`${deployment.name} is being deleted.\n`);
    return;
  }
  const { resources } = await api.send<{ resources: InstanceOnWire[] }>(
    "GET",
    `/v2/deployments/${deployment.id}/instances`,
  );
  if (options.json) return void process.stdout.write(`${JSON.stringify({ ...deployment, instances: resources })}\n`);
  process.stdout.write(
    `${deployment.name}  ${deployment.status}\n${deployment.source_config.custom_url ?? ""}\n` +
      `serves ${deployment.active_revision_id ?? "nothing yet"}\n\n`,
  );
  const rows = resources.map((resource) => [
    resource.id,
    resource.revision_id,
    resource.state,
    resource.memory_bytes === null ? "" : `${Math.round(resource.memory_bytes / 1048576)} MiB`,
    resource.cpu_percent === null ? "" : `${resource.cpu_percent} %`,
    resource.end_reason ?? "",
  ]);
  process.stdout.write(formatTable(["INSTANCE", "REVISION", "STATE", "MEMORY", "CPU", "ENDED"], rows));
  const messages = new Set(resources.flatMap(({ usage_message: message }) => message ?? []));
  for (const message of messages) process.stdout.write(`${message}\n`);
}

async function list(api: ControlApi, json: boolean): Promise<void> {
  const { resources } = await api.send<{ resources: DeploymentOnWire[] }>("GET", "/v2/deployments?limit=100");
  if (json) return void process.stdout.write(`${JSON.stringify(resources)}\n`);
  const rows = resources.map((resource) => [
    resource.name,
    resource.status,
    resource.source_config.custom_url ?? "",
    resource.id,
  ]);
  process.stdout.write(formatTable(["NAME", "STATUS", "URL", "ID"], rows));
}
