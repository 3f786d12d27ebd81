import { integer, text } from "../../base/config/options.ts";

/** Settings for repositories as a source. */
export const gitOptions = {
  gitProgram: text({
    env: ["HEDDLE_GIT"],
    default: "git",
    description: "Path of git (2.37 or newer), which fetches the repositories of deployments with the source github.",
  }),
  gitSeconds: integer({
    env: ["HEDDLE_GIT_SECONDS"],
    default: 300,
    min: 1,
    max: 86_400,
    description: "Timeout for fetching a commit, in seconds. Resolving a branch may take 30 s of it.",
  }),
  gitMaxMb: integer({
    env: ["HEDDLE_GIT_MAX_MB"],
    default: 1024,
    min: 1,
    description: "Maximum transfer size of a repository, in MiB. Its unpacked size has a separate limit.",
  }),
  gitLocal: text({
    env: ["HEDDLE_GIT_LOCAL"],
    default: "",
    description:
      "Directories of this machine, separated by commas, whose repositories may be deployed: repo_url may then " +
      "be a path or a file: address in one of them. None by default.",
  }),
  gitPollSeconds: integer({
    env: ["HEDDLE_GIT_POLL_SECONDS"],
    default: 60,
    max: 86_400,
    description:
      "How often branches with build_on_push are polled, in seconds; 0: never, so that only webhooks report pushes.",
  }),
};

export type GitSettings = {
  gitProgram: string;
  gitSeconds: number;
  gitMaxMb: number;
  gitLocal: string;
  gitPollSeconds: number;
};
