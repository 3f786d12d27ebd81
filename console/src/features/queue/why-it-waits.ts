import type { Reason } from "./queue-query.ts";

const TEXTS: Record<Reason, string> = {
  starts_later: "It was asked to start",
  thread_busy: "Its thread is busy with",
  behind_another: "Its thread has an earlier one:",
  no_server_has_graph: "No server that is running has its graph. It ends with an error when one takes it.",
  no_free_slot: "No slot is free. More servers, or more slots (N_JOBS_PER_WORKER), would start it sooner.",
};

/** Returns the beginning of a sentence that ends with the time or the run that it waits for. */
export const whyItWaits = ({ reason }: { reason: Reason }): string => TEXTS[reason];
