import type { RunEnd } from "../../../../host-kit/src/host-protocol.ts";

export type RunStatus = "pending" | "running" | "success" | "error" | "timeout" | "interrupted";

/** End of an attempt, to be committed. */
export interface FinishedRun {
  runId: string;
  threadId: string;
  attempt: number;
  /** `refused`: it has not started, and its thread stays unchanged. */
  outcome: RunEnd["outcome"] | "refused";
  /** JSON texts, or null. */
  error: string | null;
  state: string | null;
  /** Only servers that have asked for its frames wait for its end: it is not announced to all. */
  quiet?: boolean;
}

/**
 * Outcome of the end: a cancel or a later attempt may have come first. `stale_values`: nothing was written, because the
 * thread's values are not those that the lists of the state continue.
 */
export interface FinishOutcome {
  outcome: RunStatus | "deleted" | "lost" | "stale_values";
  waiting: boolean;
}
