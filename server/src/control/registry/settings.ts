import { integer, text } from "../../base/config/options.ts";

/** User name for token access to a registry without user accounts. */
export const TOKEN_USER = "oauth2accesstoken";

/** Settings for the registry that receives images of the source internal_docker. */
export const registryOptions = {
  registryUrl: text<string | undefined>({
    env: ["HEDDLE_REGISTRY_URL"],
    default: undefined,
    description:
      "External registry, with the path under which images are pushed: registry.example/agents. Default: the " +
      "control plane's own registry.",
  }),
  registryPassword: text<string | undefined>({
    env: ["HEDDLE_REGISTRY_PASSWORD"],
    default: undefined,
    secret: true,
    description:
      "Password of the user oauth2accesstoken in that registry. Everyone who may deploy gets it for pushing: " +
      "restrict it to that path.",
  }),
  pushTokenSeconds: integer({
    env: ["HEDDLE_PUSH_TOKEN_SECONDS"],
    default: 3600,
    min: 60,
    max: 86_400,
    description: "Validity of a push token for the control plane's own registry, in seconds.",
  }),
  registryBlobMb: integer({
    env: ["HEDDLE_REGISTRY_BLOB_MB"],
    default: 10_240,
    min: 1,
    description: "Maximum size of an image layer in the control plane's own registry, in MiB.",
  }),
};
