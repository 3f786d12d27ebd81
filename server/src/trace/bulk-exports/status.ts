/** The life of an export and of its runs: CREATED, RUNNING, then one of the others for good. */
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

/** As it is sent. Clients that read title case know a schedule that goes on as IntervalScheduled (contract §5.3). */
export function printStatus(status: Status, statusCase: StatusCase, isSchedule = false): string {
  if (statusCase === "upper") return status;
  return isSchedule && status === "RUNNING" ? "IntervalScheduled" : TITLES[status];
}

/** Every spelling that is accepted for CANCELLED, the only status that a caller may give. */
export const meansCancelled = (text: string): boolean => /^cancell?ed$/i.test(text);
