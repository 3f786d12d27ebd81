import { choice, integer } from "../../base/config/options.ts";

/** Retention of traces: by the trace's tier, else its project's, else the default tier. */
export const retentionOptions = {
  traceTier: choice({
    env: ["HEDDLE_TRACE_TIER"],
    default: "longlived",
    of: ["longlived", "shortlived"],
    description: "Default retention tier of traces.",
  }),
  longlivedDays: integer({
    env: ["HEDDLE_RETENTION_LONGLIVED_DAYS"],
    default: 0,
    max: 36_500,
    description: "Retention of traces of the tier longlived in days, from their start. 0: forever.",
  }),
  shortlivedDays: integer({
    env: ["HEDDLE_RETENTION_SHORTLIVED_DAYS"],
    default: 14,
    max: 36_500,
    description: "Retention of traces of the tier shortlived in days, from their start. 0: forever.",
  }),
  retentionSweepMinutes: integer({
    env: ["HEDDLE_RETENTION_SWEEP_MINUTES"],
    default: 60,
    min: 1,
    max: 1440,
    description: "Minutes between two sweeps for expired traces and leftovers of deleted projects.",
  }),
};
