import { flag, integer, text } from "../../base/config/options.ts";

/** Settings of the audit log, the same in every role. */
export const auditOptions = {
  auditsData: flag({
    env: ["HEDDLE_AUDIT_DATA"],
    default: false,
    description: "Record runs, threads, store and traces in the audit log too, not only changes of what they run on.",
  }),
  auditRetentionDays: integer({
    env: ["HEDDLE_AUDIT_RETENTION_DAYS"],
    default: 400,
    max: 36_500,
    description: "Days after which lines of the audit log are removed; 0 keeps them for ever.",
  }),
  auditFaultPoints: text<string | undefined>({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the n-th time.",
  }),
};
