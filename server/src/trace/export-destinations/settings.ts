import { flag, integer } from "../../base/config/options.ts";

export const destinationOptions = {
  exportEnvironmentCredentials: flag({
    env: ["HEDDLE_EXPORT_ENVIRONMENT_CREDENTIALS"],
    default: true,
    description:
      "Whether a destination without credentials uses those of the installation: environment, profile, web " +
      "identity or instance role. Disable it if workspaces must not write to all buckets that the installation " +
      "can write to.",
  }),
  exportTestTimeoutMs: integer({
    env: ["HEDDLE_EXPORT_TEST_TIMEOUT_MS"],
    default: 20_000,
    min: 100,
    max: 120_000,
    description: "Timeout of the test write to a destination in milliseconds, for the API and for a worker each.",
  }),
};
