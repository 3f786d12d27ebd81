import { integer } from "../../base/config/options.ts";

/** Settings of the gateway to deployments. */
export const gatewayOptions = {
  gatewayHoldSeconds: integer({
    env: ["HEDDLE_GATEWAY_HOLD_SECONDS"],
    default: 10,
    max: 300,
    description: "How long a request waits for an instance that is restarting, in seconds; then it gets 503.",
  }),
  gatewayDrainSeconds: integer({
    env: ["HEDDLE_GATEWAY_DRAIN_SECONDS"],
    default: 30,
    max: 86_400,
    description:
      "How long a standalone gateway (heddle serve --role gateway) that stops lets its open requests and streams continue, " +
      "in seconds.",
  }),
  drainSeconds: integer({
    env: ["HEDDLE_DRAIN_SECONDS"],
    default: 180,
    max: 86_400,
    description: "How long streams and runs of a replaced revision may continue, in seconds.",
  }),
};
