import { choice, text } from "../../../../base/config/options.ts";

/** Settings for the isolation of deployments that run as processes, and of their builds. */
export const isolationOptions = {
  processIsolation: choice({
    env: ["HEDDLE_PROCESS_ISOLATION"],
    default: "auto",
    of: ["auto", "bubblewrap", "user", "none"],
    description:
      "Isolation of the processes of deployments and builds: bubblewrap (file system, processes and, as root, " +
      "one system user per deployment), user (only the system user; needs root) or none. auto: the first mode " +
      "that works on this machine. If a mode is set explicitly and does not work, the control plane does not " +
      "start.",
  }),
  processReadable: text({
    env: ["HEDDLE_PROCESS_READABLE"],
    default: "",
    description:
      "Absolute paths, separated by colons, that deployments and builds in bubblewrap may read in addition to " +
      "Node, Heddle, /usr and the files of /etc that programs need.",
  }),
};
