import type { RunKwargs } from "../../../../host-kit/src/host-protocol.ts";
import type { Suspicion } from "../hosts/host-pool.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import type { ClaimedRun, CreatedRun } from "./sql.ts";

/** Run that this server has claimed; `head` and `metadataStored` are known where it was claimed with its creation. */
export type BegunRun = ClaimedRun & Partial<Pick<CreatedRun, "head" | "metadataStored">>;

/** @param isKept whether frames of the run are stored */
export function toActiveRun(
  row: BegunRun,
  { settings, alone }: Pick<RunQueueOptions, "settings" | "alone">,
  isKept: boolean,
): ActiveRun {
  return {
    runId: row.run_id,
    threadId: row.thread_id,
    graphId: row.graph_id,
    attempt: row.attempt,
    suspicion: suspicionAfter(row.failures, settings.maxFailures),
    start: {
      t: "run.start",
      run_id: row.run_id,
      thread_id: row.thread_id,
      assistant_id: row.assistant_id,
      graph_id: row.graph_id ?? "",
      attempt: row.attempt,
      fresh_thread: row.fresh_thread,
      ...(row.head && { head: row.head }),
      ...(!settings.answerToolCalls && { keep_tool_calls: true }),
      // The creation of the run has started it here: readers elsewhere ask for its frames, and get its end with them. Postgres
      // flushes commits with notifications one after another.
      notify: !alone() && row.metadataStored === undefined,
      // an earlier attempt may have left a gap, which the end of the run records
      ...((isKept || row.attempt > 1) && { hold_end: true }),
    },
    kwargs: row.kwargs,
    claimedAt: performance.now(),
    phase: "starting",
    untouched: row.attempt === 1,
    hasMetadata: false,
    timeout: undefined,
    killTimer: undefined,
  };
}

/** Suspicion for a run that has lost hosts: its last attempt runs alone on a host, isolated from all other runs. */
function suspicionAfter(failures: number, maxFailures: number): Suspicion {
  if (failures === 0) return "none";
  return failures >= maxFailures - 1 ? "alone" : "quarantined";
}

export const isProtocolRun = ({ kwargs }: ActiveRun): boolean => kwargs.includes('"protocol": "v2"');

/** Data of the first frame of each attempt. */
export const metadataOf = (runId: string, attempt: number, discarded?: string[]): string =>
  JSON.stringify({ run_id: runId, attempt, ...(discarded && { discarded_interrupts: discarded }) });

/** Whether clients may reconnect to the stream. The text is parsed only when it contains the key. */
export const isResumable = (kwargs: string): boolean =>
  (kwargs.includes('"resumable": true') || kwargs.includes('"resumable":true')) &&
  (JSON.parse(kwargs) as { resumable?: unknown }).resumable === true;

/**
 * Result of questions.sql for a run that answers or discards interrupts. The text is parsed only when it contains the
 * key.
 */
export function parseQuestions(kwargs: string): RunKwargs["questions"] {
  return kwargs.includes('"questions": {') ? (JSON.parse(kwargs) as RunKwargs).questions : undefined;
}
