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
      "Namespace for the objects of deployments; nothing outside it is changed. It must exist, and not be the one in " +
      "which this server itself runs. Default: the namespace of the kubeconfig's context.",
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
  kubernetesPullSecret: text<string | undefined>({
    env: ["HEDDLE_KUBERNETES_PULL_SECRET"],
    default: undefined,
    description:
      "Secret of the type kubernetes.io/dockerconfigjson in the namespace of deployments, with which nodes pull the " +
      "images that Heddle has built of source code. Default: for the control plane's own cluster, a Secret that is made " +
      "of HEDDLE_KUBERNETES_REGISTRY_CONFIG; for a listener, the credentials of the nodes.",
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
  kubernetesRegistry: text<string | undefined>({
    env: ["HEDDLE_KUBERNETES_REGISTRY"],
    default: undefined,
    description:
      "Repository of the images that the control plane builds of source code for clusters, such as " +
      "registry.example/team/heddle. The container engine of HEDDLE_CONTAINER_ENGINE builds and pushes them. Default: " +
      "none; deployments in clusters then run existing images only.",
  }),
  kubernetesRegistryConfig: text<string | undefined>({
    env: ["HEDDLE_KUBERNETES_REGISTRY_CONFIG"],
    default: undefined,
    description:
      'File with the credentials for HEDDLE_KUBERNETES_REGISTRY in Docker\'s format: {"auths": {"registry.example": ' +
      '{"auth": …}}}. It is read at each push. Default: none.',
  }),
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
