import { choice, flag, integer, text } from "../../../base/config/options.ts";

/** Settings for the choice of the driver, and for containers. */
export const containerOptions = {
  driver: choice({
    env: ["HEDDLE_CONTROL_DRIVER"],
    default: "process",
    of: ["process", "container"],
    description:
      "What runs deployments of source code: child processes of this machine, or containers. Deployments of images " +
      "are containers always, and need HEDDLE_CONTAINER_ENGINE.",
  }),
  containerEngine: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_ENGINE"],
    default: undefined,
    description:
      "The container engine of this machine, by its Docker-compatible API: unix:///run/podman/podman.sock or " +
      "tcp://127.0.0.1:2375. Default: unix:///var/run/docker.sock where HEDDLE_CONTROL_DRIVER is container, else none.",
  }),
  containerNetwork: text({
    env: ["HEDDLE_CONTAINER_NETWORK"],
    default: "bridge",
    description:
      "Network of the engine that deployments are in. host: this machine's own, where they reach what listens on its " +
      "loopback addresses; it has to suffice that the image listens on HOST and PORT.",
  }),
  containerHostAddress: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_HOST_ADDRESS"],
    default: undefined,
    description:
      "By what address containers reach this machine. It takes the place of loopback addresses in what deployments " +
      "are told: database, control plane, trace platform, which have to listen there.",
  }),
  containerPull: choice({
    env: ["HEDDLE_CONTAINER_PULL"],
    default: "always",
    of: ["always", "missing"],
    description: "Whether an image that the engine has is pulled nonetheless when a revision names it by a tag.",
  }),
  containerBaseImage: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_BASE_IMAGE"],
    default: undefined,
    description:
      "Image with Node, npm and heddle on its PATH, of which images of source code are built: see " +
      "scripts/agent-image.mjs. It has to be in the engine, or to be had by it.",
  }),
  containerPids: integer({
    env: ["HEDDLE_CONTAINER_PIDS"],
    default: 1024,
    min: 16,
    description: "Processes and threads that a deployment's container may have.",
  }),
  containerReadOnly: flag({
    env: ["HEDDLE_CONTAINER_READ_ONLY"],
    default: true,
    description: "Whether the root of containers is read-only; /tmp is in memory and can be written.",
  }),
  containerTmpMb: integer({
    env: ["HEDDLE_CONTAINER_TMP_MB"],
    default: 256,
    min: 1,
    description: "Size of /tmp of a container in MiB. What lies there counts as the container's memory.",
  }),
  containerRegistryConfig: text<string | undefined>({
    env: ["HEDDLE_CONTAINER_REGISTRY_CONFIG"],
    default: undefined,
    description:
      'File with credentials for registries, as Docker writes it: {"auths": {"registry.example": {"auth": …}}}. ' +
      "They are for all deployments; resource_spec.image_pull_secrets are for one.",
  }),
};
