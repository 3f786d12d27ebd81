import { flag, integer, text } from "../../base/config/options.ts";

/** Settings of the audit log, the same in every role. */
export const auditOptions = {
  auditsData: flag({
    env: ["HEDDLE_AUDIT_DATA"],
    default: false,
    description:
      "Record operations on runs, threads, store and traces in the audit log too, not only administrative changes.",
  }),
  auditRetentionDays: integer({
    env: ["HEDDLE_AUDIT_RETENTION_DAYS"],
    default: 400,
    max: 36_500,
    description: "Retention of the audit log in days; 0 keeps it forever.",
  }),
  auditFaultPoints: text<string | undefined>({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the nth time.",
  }),
};
