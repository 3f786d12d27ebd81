import { flag, integer } from "../../base/config/options.ts";

export const destinationOptions = {
  exportEnvironmentCredentials: flag({
    env: ["HEDDLE_EXPORT_ENVIRONMENT_CREDENTIALS"],
    default: true,
    description:
      "Whether a destination without credentials uses those of the installation: environment, profile, web identity " +
      "or instance role. Switch it off where workspaces must not write to what the installation may write to.",
  }),
  exportTestTimeoutMs: integer({
    env: ["HEDDLE_EXPORT_TEST_TIMEOUT_MS"],
    default: 20_000,
    min: 100,
    max: 120_000,
    description: "Milliseconds that the test write to a destination may take, in the API and again in a worker.",
  }),
};
