import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
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
    placeholder: "KEY",
    env: ["HEDDLE_API_KEY", "LANGGRAPH_HOST_API_KEY", "LANGSMITH_API_KEY"],
    description: "API key of the listener's workspace, with the permission deployments:update.",
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
    defaultNote: "those that the control plane lists for the listener",
    description: "Namespaces for deployments; nothing outside of them is touched.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Run a control plane's deployments in a Kubernetes cluster elsewhere";

export function help(): string {
  return `Usage: heddle listener --control-url URL --key KEY --listener-id ID [options]

Asks a control plane for the deployments of this listener, runs them in a Kubernetes cluster
and reports their state. It makes outgoing connections only. While the control plane does not
answer, everything runs on. The cluster and its details come from HEDDLE_KUBECONFIG and the
other settings named HEDDLE_KUBERNETES_….

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const options = readFlags(flags, args, process.env);
  const { "control-url": controlUrl, key, "listener-id": listenerId } = options;
  if (!controlUrl || !URL.canParse(controlUrl))
    throw new UsageError("--control-url must be the URL of a control plane");
  if (!key) throw new UsageError("--key is missing");
  if (!listenerId || !isUuid(listenerId)) throw new UsageError("--listener-id must be the id of a listener");
  const namespaces = (options.namespaces ?? "").split(",").flatMap((name) => name.trim() || []);
  const { startListener } = await import("../../../server/src/main.ts");
  const listener = await startListener({ controlUrl, key, listenerId, namespaces });
  onStopSignal(() => listener.stop());
  // its timers do not keep the process alive
  setInterval(() => {}, 2 ** 30);
}
