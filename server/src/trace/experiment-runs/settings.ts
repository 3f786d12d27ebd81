import { integer } from "../../base/config/options.ts";

/** Settings of the execution of experiments. */
export const experimentOptions = {
  experimentConcurrency: integer({
    env: ["HEDDLE_EXPERIMENT_CONCURRENCY"],
    default: 4,
    min: 0,
    max: 64,
    description:
      "Maximum number of experiments that this process executes concurrently; the last slot is reserved for a " +
      "workspace without a running experiment. 0: this process executes none.",
  }),
  experimentLeaseSeconds: integer({
    env: ["HEDDLE_EXPERIMENT_LEASE_SECONDS"],
    default: 15,
    min: 2,
    max: 600,
    description: "Lease on an experiment, in seconds: without a renewal, another process resumes it.",
  }),
};
