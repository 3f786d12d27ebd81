import type { RunStart } from "../../../../graph-host/src/host-protocol.ts";
import type { Suspicion } from "../hosts/host-pool.ts";

/** A run that this server has claimed and not yet ended. */
export interface ActiveRun {
  runId: string;
  threadId: string;
  graphId: string | null;
  attempt: number;
  suspicion: Suspicion;
  start: RunStart;
  kwargs: string;
  timeout: NodeJS.Timeout | undefined;
  /** `performance.now()` of the claim. */
  claimedAt: number;
  /**
   * `starting`: reads the frames of earlier attempts. `waiting`: for a host, or for a heartbeat that confirms the
   * lease. `ending`: its end is being written.
   */
  phase: "starting" | "waiting" | "executing" | "ending";
  /** No attempt has reached a host, so it has written nothing. */
  untouched: boolean;
  /** Started while the lease was in doubt: it waits until a heartbeat has seen its row. */
  unconfirmed: boolean;
  /** Its `metadata` frame is in its stream. */
  announced?: boolean;
  /** Cancelled while it was starting. */
  cancelled?: boolean;
  /** Timer that kills the host when it does not stop the run. */
  killTimer?: NodeJS.Timeout;
}
