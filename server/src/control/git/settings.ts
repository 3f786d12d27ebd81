import { integer, text } from "../../base/config/options.ts";

/** Settings for repositories as a source. */
export const gitOptions = {
  gitProgram: text({
    env: ["HEDDLE_GIT"],
    default: "git",
    description: "The git program, 2.37 or newer, that fetches repositories of deployments whose source is github.",
  }),
  gitSeconds: integer({
    env: ["HEDDLE_GIT_SECONDS"],
    default: 300,
    min: 1,
    max: 86_400,
    description: "How long fetching a commit may take, in seconds. A question for a branch's commit gets 30 s of them.",
  }),
  gitMaxMb: integer({
    env: ["HEDDLE_GIT_MAX_MB"],
    default: 1024,
    min: 1,
    description: "What may be fetched of a repository, in MiB, as it is sent. What it unpacks to has its own limit.",
  }),
  gitLocal: text({
    env: ["HEDDLE_GIT_LOCAL"],
    default: "",
    description:
      "Directories of this machine, with commas between, below which repositories may be deployed from: then " +
      "repo_url may be a path or a file: address there. None by default.",
  }),
  gitPollSeconds: integer({
    env: ["HEDDLE_GIT_POLL_SECONDS"],
    default: 60,
    max: 86_400,
    description:
      "How often branches with build_on_push are looked at, in seconds; 0: never, so that only webhooks tell of pushes.",
  }),
};

export type GitSettings = {
  gitProgram: string;
  gitSeconds: number;
  gitMaxMb: number;
  gitLocal: string;
  gitPollSeconds: number;
};
