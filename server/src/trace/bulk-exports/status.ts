/** Statuses of an export and of its runs: CREATED, RUNNING, then one of the final ones. */
export const STATUSES = ["CREATED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "TIMEDOUT"] as const;
export type Status = (typeof STATUSES)[number];

export type StatusCase = "upper" | "title";

const TITLES: Record<Status, string> = {
  CREATED: "Created",
  RUNNING: "Running",
  COMPLETED: "Completed",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
  TIMEDOUT: "TimedOut",
};

export const isOver = (status: Status): boolean => status !== "CREATED" && status !== "RUNNING";

/**
 * Formats a status for the wire. Clients that use title case expect IntervalScheduled for an active schedule.
 */
export function formatStatus(status: Status, statusCase: StatusCase, isSchedule = false): string {
  if (statusCase === "upper") return status;
  return isSchedule && status === "RUNNING" ? "IntervalScheduled" : TITLES[status];
}

/** Matches every accepted spelling of CANCELLED, the only status that a caller may set. */
export const meansCancelled = (text: string): boolean => /^cancell?ed$/i.test(text);
