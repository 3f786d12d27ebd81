import { integer, text } from "../../base/config/options.ts";

/** Settings for the registry that receives images of the source internal_docker. */
export const registryOptions = {
  registryUrl: text<string | undefined>({
    env: ["HEDDLE_REGISTRY_URL"],
    default: undefined,
    description:
      "A registry of your own, with the path below which images are pushed: registry.example/agents. Default: the " +
      "control plane is the registry itself.",
  }),
  registryPassword: text<string | undefined>({
    env: ["HEDDLE_REGISTRY_PASSWORD"],
    default: undefined,
    secret: true,
    description:
      "Password there of the user oauth2accesstoken. Whoever may deploy gets it, to push with: let it be good for " +
      "that path only.",
  }),
  pushTokenSeconds: integer({
    env: ["HEDDLE_PUSH_TOKEN_SECONDS"],
    default: 3600,
    min: 60,
    max: 86_400,
    description: "How long a token for pushing images to the control plane's own registry is good for, in seconds.",
  }),
  registryBlobMb: integer({
    env: ["HEDDLE_REGISTRY_BLOB_MB"],
    default: 10_240,
    min: 1,
    description: "Largest part of an image that the control plane's own registry takes, in MiB.",
  }),
};
