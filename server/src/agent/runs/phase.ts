/**
 * State machine of a run on the server that executes it, from its claim until its end or its release is written. (The
 * states of the run's row are in functions/runs.sql.)
 *
 *     starting --prepared--> waiting --hosted--> executing --ended--> ending --stored--> gone
 *                               ^                    |                   |
 *                               +----- the next claim, here or elsewhere <--requeued
 *
 * Code that works on a run (dispatch-run.ts, end-run.ts, reconcile.ts) returns an event; only active-runs.ts applies it.
 */
import type { RunEnd } from "../../../../host-kit/src/host-protocol.ts";
import type { FinishedRun, FinishOutcome } from "../streams/finished-run.ts";

export const PHASES = [
  /** Its stream is continued after the frames of earlier attempts. */
  "starting",
  /** Cancelled while it was starting. */
  "aborting",
  /** No host is free. */
  "waiting",
  /** Claimed while the lease was in doubt: waits for a heartbeat that shows its row under this server. */
  "unconfirmed",
  /** A host has it. */
  "executing",
  /** Its host was told to stop it. */
  "cancelling",
  /** Its end, or its return to the queue, is being written. */
  "ending",
  /** This server neither executes it nor writes its end. */
  "gone",
] as const;
export type Phase = (typeof PHASES)[number];

/** How a run ended: reported by its host, or decided here. `refused`: its thread stays unchanged. */
export type Ended = Pick<RunEnd, "error" | "finished"> & Pick<FinishedRun, "outcome">;

export type FinalOutcome = Exclude<FinishOutcome["outcome"], "lost" | "stale_values">;

/** The committed end of a run, for its readers. */
export interface StoredEnd {
  outcome: FinalOutcome;
  error: Ended["error"];
  /** JSON text of the thread's state; null when unknown. */
  state: string | null;
  /** Whether another run may wait for the thread or the slot. */
  waiting: boolean;
}

export type RunEvent =
  /** Its stream is ready. */
  | { is: "prepared" }
  | { is: "hosted" }
  /** No host is free. */
  | { is: "unhosted" }
  /** The lease may have expired since the claim. */
  | { is: "doubted" }
  /** A host may be free. */
  | { is: "capacity" }
  /** A heartbeat has seen its row under this server. */
  | { is: "confirmed" }
  /** A caller, its time limit or its thread's next run cancelled it. */
  | { is: "cancelled" }
  /** Its host did not stop it in time. */
  | { is: "stalled" }
  | { is: "ended"; end: Ended; result?: Buffer | undefined }
  /** It cannot continue here; `blame`: it may have caused that. */
  | { is: "returned"; blame: boolean; reason: string }
  /** Its end is committed. */
  | ({ is: "stored" } & StoredEnd)
  /** Its return to the queue is committed. */
  | { is: "requeued" }
  /** The database rejected its return: the next heartbeats hand its row back. */
  | { is: "stuck" }
  /** Its row is not of this server and attempt any more: another server owns it, or it was deleted. */
  | { is: "lost" }
  /** A later attempt began here. */
  | { is: "superseded" };

export type Action =
  /** Only the phase changes. */
  | "none"
  | "dispatch"
  | "emit_metadata"
  | "stop_in_host"
  | "take_from_host"
  | "finish"
  | "finish_cancelled"
  | "release"
  | "conclude"
  | "requeue"
  | "lose";

type Step = readonly [Phase, Action];
type Row = Readonly<Record<RunEvent["is"], Step | null>>;

const NOTHING: Row = {
  prepared: null,
  hosted: null,
  unhosted: null,
  doubted: null,
  capacity: null,
  confirmed: null,
  cancelled: null,
  stalled: null,
  ended: null,
  returned: null,
  stored: null,
  requeued: null,
  stuck: null,
  lost: null,
  superseded: null,
};

/** In every phase but the last. */
const owned = {
  ...NOTHING,
  returned: ["ending", "release"],
  lost: ["gone", "lose"],
  superseded: ["gone", "none"],
} as const;

/** Null: the event does not occur in this phase, or changes nothing. */
export const TRANSITIONS: Readonly<Record<Phase, Row>> = {
  starting: {
    ...owned,
    prepared: ["waiting", "dispatch"],
    cancelled: ["aborting", "none"],
    ended: ["ending", "finish"],
  },
  // its end follows the frames of its earlier attempts
  aborting: { ...owned, prepared: ["ending", "finish_cancelled"], ended: ["ending", "finish_cancelled"] },
  waiting: {
    ...owned,
    capacity: ["waiting", "dispatch"],
    hosted: ["executing", "emit_metadata"],
    unhosted: ["waiting", "none"],
    doubted: ["unconfirmed", "none"],
    cancelled: ["ending", "finish_cancelled"],
    ended: ["ending", "finish"],
  },
  unconfirmed: { ...owned, confirmed: ["waiting", "dispatch"], cancelled: ["ending", "finish_cancelled"] },
  executing: { ...owned, cancelled: ["cancelling", "stop_in_host"], ended: ["ending", "finish"] },
  cancelling: {
    ...owned,
    cancelled: ["cancelling", "stop_in_host"],
    stalled: ["ending", "take_from_host"],
    ended: ["ending", "finish"],
  },
  // returned: the database rejected its end, or the server stops before it is written
  ending: { ...owned, stored: ["gone", "conclude"], requeued: ["gone", "requeue"], stuck: ["gone", "none"] },
  gone: NOTHING,
};

/** Whether only a host or a heartbeat can start a run in this phase. */
export const isWaiting = (phase: Phase): boolean => phase === "waiting" || phase === "unconfirmed";

/** Whether a host should have a run in this phase. */
export const isInHost = (phase: Phase): boolean => phase === "executing" || phase === "cancelling";
