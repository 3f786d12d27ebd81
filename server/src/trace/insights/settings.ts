import { integer } from "../../base/config/options.ts";

/** Settings of insights. */
export const insightOptions = {
  insightConcurrency: integer({
    env: ["HEDDLE_INSIGHT_CONCURRENCY"],
    default: 1,
    min: 0,
    max: 16,
    description:
      "Maximum number of insights jobs that this process executes concurrently; a workspace has one at a time. 0: " +
      "this process executes none.",
  }),
};
