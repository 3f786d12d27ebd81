import { choice, flag, integer, text } from "../../../base/config/options.ts";

/** Settings for the choice of the driver, and for containers. */
export const containerOptions = {
  driver: choice({
    env: ["HEDDLE_CONTROL_DRIVER"],
    default: "process",
    of: ["process", "container", "kubernetes"],
    description:
      "How new revisions run. process, container: source code as child processes on this machine or in containers, " +
      "images always in containers, which needs HEDDLE_CONTAINER_ENGINE. kubernetes: images as pods in the cluster " +
      "of HEDDLE_KUBECONFIG; source code too, if HEDDLE_KUBERNETES_REGISTRY is set.",
  }),
  containerEngine: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_ENGINE"],
    default: undefined,
    description:
      "Docker-compatible API of this machine's container engine: unix:///run/podman/podman.sock or " +
      "tcp://127.0.0.1:2375. Default: unix:///var/run/docker.sock if HEDDLE_CONTROL_DRIVER is container, " +
      "otherwise none.",
  }),
  containerNetwork: text({
    env: ["HEDDLE_CONTAINER_NETWORK"],
    default: "bridge",
    description:
      "Network of the container engine that deployments join. host: this machine's network, in which they reach " +
      "its loopback addresses; images must then listen on HOST and PORT.",
  }),
  containerHostAddress: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_HOST_ADDRESS"],
    default: undefined,
    description:
      "Address at which containers reach this machine. Replaces loopback addresses in the URLs that deployments " +
      "get for the database, the control plane and the trace platform, which must listen on it.",
  }),
  containerPull: choice({
    env: ["HEDDLE_CONTAINER_PULL"],
    default: "always",
    of: ["always", "missing"],
    description: "Whether to pull an image that a revision names by tag even if the engine has it already.",
  }),
  containerBaseImage: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_BASE_IMAGE"],
    default: undefined,
    description:
      "Base image for deployments of source code, with Node, npm and heddle on its PATH: see " +
      "scripts/build/agent-image.mjs. The engine must have it or be able to pull it.",
  }),
  containerPids: integer({
    env: ["HEDDLE_CONTAINER_PIDS"],
    default: 1024,
    min: 16,
    description: "Maximum number of processes and threads in a deployment's container.",
  }),
  containerReadOnly: flag({
    env: ["HEDDLE_CONTAINER_READ_ONLY"],
    default: true,
    description: "Whether the root file system of containers is read-only; /tmp is in memory and writable.",
  }),
  containerTmpMb: integer({
    env: ["HEDDLE_CONTAINER_TMP_MB"],
    default: 256,
    min: 1,
    description: "Size of a container's /tmp, in MiB. Its contents count towards the container's memory.",
  }),
  containerRegistryConfig: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_REGISTRY_CONFIG"],
    default: undefined,
    description:
      'File with registry credentials in Docker\'s format: {"auths": {"registry.example": {"auth": …}}}. ' +
      "They apply to all deployments; resource_spec.image_pull_secrets apply to one.",
  }),
};
