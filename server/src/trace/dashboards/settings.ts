import { flag } from "../../base/config/options.ts";

/** Settings of dashboards. */
export const dashboardOptions = {
  runCopies: flag({
    env: ["HEDDLE_RUN_COPIES"],
    default: true,
    description:
      "Whether this process keeps copies of what statistics read of the runs of finished hours, about 50 bytes per run, " +
      "and reads them for dashboards, statistics and lists. Without them, those read the runs.",
  }),
};
