/**
 * Life of an experiment: pending until a process claims it, running until all rows have ended. `stopped` is an end that
 * Heddle decided on, with a reason: the budget is used up, or the target does not answer.
 */
export const JOB_STATUSES = ["pending", "running", "completed", "stopped", "cancelled"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export type JobEvent = "claim" | "complete" | "stop" | "cancel" | "resume" | "retry";

/** Status after an event; null: the event is not possible. */
const TRANSITIONS: Record<JobStatus, Record<JobEvent, JobStatus | null>> = {
  pending: { claim: "running", complete: null, stop: null, cancel: "cancelled", resume: null, retry: null },
  running: {
    claim: "running",
    complete: "completed",
    stop: "stopped",
    cancel: "cancelled",
    resume: null,
    retry: null,
  },
  completed: { claim: null, complete: null, stop: null, cancel: null, resume: null, retry: "pending" },
  stopped: { claim: null, complete: null, stop: null, cancel: "cancelled", resume: "pending", retry: "pending" },
  cancelled: { claim: null, complete: null, stop: null, cancel: null, resume: "pending", retry: "pending" },
};

/** Returns the statuses in which an event is possible. */
export const statusesBefore = (event: JobEvent): JobStatus[] =>
  JOB_STATUSES.filter((status) => TRANSITIONS[status][event] !== null);

/** Statuses of a row, by what progress counts them as. */
export const ROW_STATUSES = ["pending", "running", "ran", "done", "failed", "unjudged"] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];
