/**
 * What the server acknowledged, and what must therefore be true when all is over. The load writes it, `verify`
 * reads it. Something is acknowledged when its answer, or for `wait` and `stream` the answer's head, arrived.
 */
export class Ledger {
  readonly threads = new Map<string, AcknowledgedThread>();
  readonly runs = new Map<string, AcknowledgedRun>();
  /** Answers that no failure excuses. */
  readonly wrong: string[] = [];
  /** Requests that failed while something was dead, by status or error code. */
  readonly failedRequests = new Map<string, number>();

  countFailure(what: string): void {
    this.failedRequests.set(what, (this.failedRequests.get(what) ?? 0) + 1);
  }
}

export interface AcknowledgedThread {
  threadId: string;
  /** Given as metadata when the thread was made. */
  tag: string;
  /** Says what is wrong with the final thread, or nothing. */
  check: (thread: {
    status: string;
    values: Record<string, unknown> | null;
    interrupts?: unknown;
  }) => string | undefined;
}

export interface AcknowledgedRun {
  runId: string;
  threadId: string;
  graph: string;
  /** Steps that must have ended in the step log. */
  steps: number[];
  /** Its thread goes with it. */
  stateless: boolean;
}
