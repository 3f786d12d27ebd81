import { choice, flag } from "../../base/config/options.ts";

export const cronOptions = {
  cronMissed: choice({
    env: ["HEDDLE_CRON_MISSED"],
    default: "latest",
    of: ["latest", "skip"],
    description:
      "What becomes of a cron's occurrences that were missed while no server ran: the latest of them starts one run, " +
      "or none does. Older ones start none.",
  }),
  cronSkipWaiting: flag({
    env: ["HEDDLE_CRON_SKIP_WAITING"],
    default: true,
    description: "Start no further run of a cron while the run of its last occurrence still waits to begin.",
  }),
};
