import type { Reason } from "./queries.ts";

const TEXTS: Record<Reason, string> = {
  starts_later: "Scheduled to start",
  thread_busy: "Thread is busy with",
  behind_another: "Queued behind",
  no_server_has_graph: "No running server has this graph. The run fails when a server claims it.",
  no_free_slot: "All slots are in use. Add servers or increase N_JOBS_PER_WORKER.",
};

/** Returns the beginning of a sentence that ends with the time or the run that it waits for. */
export const describeWaitReason = ({ reason }: { reason: Reason }): string => TEXTS[reason];
