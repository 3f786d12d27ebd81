import type { RunStart } from "../../../../host-kit/src/host-protocol.ts";
import type { Suspicion } from "../hosts/host-pool.ts";
import type { Phase } from "./phase.ts";

/** A run that this server has claimed and not yet ended. */
export interface ActiveRun {
  runId: string;
  threadId: string;
  graphId: string | null;
  attempt: number;
  suspicion: Suspicion;
  start: RunStart;
  kwargs: string;
  /** `performance.now()` of the claim. */
  claimedAt: number;
  phase: Phase;
  /** No attempt has reached a host, so it has written nothing. */
  untouched: boolean;
  /** Its `metadata` frame is in its stream. */
  hasMetadata: boolean;
  /** Fires when it exceeds the time limit. */
  timeout: NodeJS.Timeout | undefined;
  /** Fires when its host has not stopped the cancelled run in time (CANCEL_PATIENCE_MS). */
  killTimer: NodeJS.Timeout | undefined;
}
