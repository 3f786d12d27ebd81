import { flag, integer, list, text } from "../../base/config/options.ts";

/** Settings of the cluster that runs deployments, for a control plane with its own cluster and for a listener. */
export const clusterOptions = {
  kubeconfig: text<string | undefined>({
    env: ["HEDDLE_KUBECONFIG"],
    default: undefined,
    description:
      "kubeconfig file of the Kubernetes cluster that runs deployments. Default: the service account of the pod in " +
      "which this process runs.",
  }),
  kubernetesNamespace: text<string | undefined>({
    env: ["HEDDLE_KUBERNETES_NAMESPACE"],
    default: undefined,
    description:
      "Namespace for the objects of deployments; nothing outside it is changed. It must exist. Default: the " +
      "namespace of the kubeconfig's context or of this pod.",
  }),
  kubernetesAddress: text<string | undefined>({
    env: ["HEDDLE_KUBERNETES_ADDRESS"],
    default: undefined,
    description:
      "Address at which gateways reach a deployment, as HOST:PORT with {service} and {namespace}, such as " +
      "{service}.{namespace}.svc:8000. Default: the address of each pod, for gateways in the cluster's network.",
  }),
  kubernetesIngressFrom: list({
    env: ["HEDDLE_KUBERNETES_INGRESS_FROM"],
    description:
      "Namespaces and networks (CIDR) from which pods of deployments accept requests, separated by commas: those of " +
      "the gateways. This needs a network plugin that enforces NetworkPolicies. Default: all.",
  }),
  kubernetesReadOnly: flag({
    env: ["HEDDLE_KUBERNETES_READ_ONLY"],
    default: true,
    description: "Whether the root file system of agent servers in pods is read-only; /tmp is writable.",
  }),
  kubernetesRunAsUser: integer({
    env: ["HEDDLE_KUBERNETES_RUN_AS_USER"],
    default: 0,
    max: 65_534,
    description: "User id of agent servers in pods. 0: the image's user.",
  }),
  kubernetesTmpMb: integer({
    env: ["HEDDLE_KUBERNETES_TMP_MB"],
    default: 1024,
    min: 1,
    description: "Size of the /tmp of a deployment's pod, in MiB.",
  }),
};

/** Settings of a control plane for deployments in clusters. */
export const kubernetesOptions = {
  ...clusterOptions,
  kubernetesHostAddress: text<string | undefined>({
    env: ["HEDDLE_KUBERNETES_HOST_ADDRESS"],
    default: undefined,
    description:
      "Address at which pods reach this machine. Replaces loopback addresses in the URLs that deployments get for the " +
      "database, the control plane and the trace platform, which must listen on it.",
  }),
  listenerAddresses: list({
    env: ["HEDDLE_LISTENER_ADDRESSES"],
    description:
      "Networks (CIDR), addresses, names and domains (*.example) to which gateways may send requests for deployments " +
      "of listeners, separated by commas. Default: none, because listeners report the addresses of their pods " +
      "themselves.",
  }),
  kubernetesServiceAccounts: list({
    env: ["HEDDLE_KUBERNETES_SERVICE_ACCOUNTS"],
    description:
      "Service accounts that deployments may name in resource_spec.service_account_name, separated by commas. Default: " +
      "none; each deployment gets an account without permissions.",
  }),
};
