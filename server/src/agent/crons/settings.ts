import { choice, flag } from "../../base/config/options.ts";

export const cronOptions = {
  cronMissed: choice({
    env: ["HEDDLE_CRON_MISSED"],
    default: "latest",
    of: ["latest", "skip"],
    description:
      "Handling of a cron's occurrences that were missed while no server was running: the latest one creates a " +
      "run, or none does. Older ones never create runs.",
  }),
  cronSkipWaiting: flag({
    env: ["HEDDLE_CRON_SKIP_WAITING"],
    default: true,
    description: "Create no further run of a cron while the run of its last occurrence is still pending.",
  }),
};
