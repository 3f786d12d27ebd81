import { choice, integer } from "../../base/config/options.ts";

/** Retention of traces: by the trace's tier, else its project's, else the default tier. */
export const retentionOptions = {
  traceTier: choice({
    env: ["HEDDLE_TRACE_TIER"],
    default: "longlived",
    of: ["longlived", "shortlived"],
    description: "Tier of traces whose project names none: how long they are kept.",
  }),
  longlivedDays: integer({
    env: ["HEDDLE_RETENTION_LONGLIVED_DAYS"],
    default: 0,
    max: 36_500,
    description: "Days that traces of the tier longlived are kept, from their start. 0: for ever.",
  }),
  shortlivedDays: integer({
    env: ["HEDDLE_RETENTION_SHORTLIVED_DAYS"],
    default: 14,
    max: 36_500,
    description: "Days that traces of the tier shortlived are kept, from their start. 0: for ever.",
  }),
  retentionSweepMinutes: integer({
    env: ["HEDDLE_RETENTION_SWEEP_MINUTES"],
    default: 60,
    min: 1,
    max: 1440,
    description: "Minutes between two looks for traces whose time is over, and for the rests of deleted projects.",
  }),
};
