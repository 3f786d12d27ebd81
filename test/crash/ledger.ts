/**
 * The server's acknowledgements, and the state that must therefore hold at the end. The load writes it, `verify` reads
 * it. A request is acknowledged when its answer, or for `wait` and `stream` the answer's head, arrived.
 */
export class Ledger {
  readonly threads = new Map<string, AcknowledgedThread>();
  readonly runs = new Map<string, AcknowledgedRun>();
  /** Responses that no fault excuses. */
  readonly wrong: string[] = [];
  /** Requests that failed while a process was dead, by status or error code. */
  readonly failedRequests = new Map<string, number>();

  countFailure(what: string): void {
    this.failedRequests.set(what, (this.failedRequests.get(what) ?? 0) + 1);
  }
}

export interface AcknowledgedThread {
  threadId: string;
  /** Metadata of the thread, given when it was created. */
  tag: string;
  /** Returns what is wrong with the final thread, or undefined. */
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
  /** Steps whose end must be in the step log. */
  steps: number[];
  /** Whether its thread is deleted with it. */
  stateless: boolean;
}
