import { choice, text } from "../../../../base/config/options.ts";

/** Settings for the isolation of deployments that run as processes, and of their builds. */
export const isolationOptions = {
  processIsolation: choice({
    env: ["HEDDLE_PROCESS_ISOLATION"],
    default: "auto",
    of: ["auto", "bubblewrap", "user", "none"],
    description:
      "How processes of deployments and builds are isolated: bubblewrap (file system, processes and, as root, a system " +
      "user of each deployment's own), user (that system user alone; needs root) or none. auto: the first that works here. " +
      "A named one that does not work refuses the start.",
  }),
  processReadable: text({
    env: ["HEDDLE_PROCESS_READABLE"],
    default: "",
    description:
      "Absolute paths, with colons between, that deployments and builds in bubblewrap may read besides Node, Heddle, " +
      "/usr and the files of /etc that programs need.",
  }),
};
