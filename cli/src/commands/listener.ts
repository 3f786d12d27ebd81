import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
import { warnOfMisspelled } from "../core/known-variables.ts";
import { onStopSignal } from "../core/stop-signals.ts";
import { isUuid } from "../core/uuid.ts";

const flags = {
  "control-url": {
    type: "text",
    placeholder: "URL",
    env: ["HEDDLE_CONTROL_URL", "LANGGRAPH_HOST_URL"],
    description: "URL of the control plane.",
  },
  key: {
    type: "text",
    placeholder: "CREDENTIAL",
    env: ["HEDDLE_LISTENER_KEY", "HEDDLE_API_KEY"],
    description: "The listener's own credential, from POST /v2/listeners. No other key is accepted.",
  },
  "listener-id": {
    type: "text",
    placeholder: "ID",
    env: ["HEDDLE_LISTENER_ID"],
    description: "Id of the listener, from POST /v2/listeners.",
  },
  namespaces: {
    type: "text",
    placeholder: "NAME[,NAME]",
    env: ["HEDDLE_LISTENER_NAMESPACES"],
    defaultNote: "those that the control plane assigns to the listener",
    description: "Namespaces for deployments; nothing outside them is changed.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Run the deployments of a remote control plane in a Kubernetes cluster";

export function help(): string {
  return `Usage: heddle listener --control-url URL --key CREDENTIAL --listener-id ID [options]

Gets the deployments of this listener from a control plane, runs them in a Kubernetes cluster
and reports their state. The listener only makes outgoing connections. While the control plane
does not respond, the deployments keep running. HEDDLE_KUBECONFIG and the settings that begin
with HEDDLE_KUBERNETES_ select and configure the cluster.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const options = readFlags(flags, args, process.env);
  const { "control-url": controlUrl, key, "listener-id": listenerId } = options;
  if (!controlUrl || !URL.canParse(controlUrl))
    throw new UsageError("--control-url must be the URL of a control plane");
  if (!key) throw new UsageError("--key is required");
  if (!listenerId || !isUuid(listenerId)) throw new UsageError("--listener-id must be the id of a listener");
  const namespaces = (options.namespaces ?? "").split(",").flatMap((name) => name.trim() || []);
  const { startListener } = await import("../../../server/src/main.ts");
  const listener = await startListener({ controlUrl, key, listenerId, namespaces });
  onStopSignal(() => listener.stop());
  await warnOfMisspelled(process.env);
  // its timers do not keep the process alive
  setInterval(() => {}, 2 ** 30);
}
