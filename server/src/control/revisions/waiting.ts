import type { NextChange } from "../changes/control-changes.ts";
import type { Status } from "./status.ts";

/** How a deployment waits: between two looks, until it is aborted. */
export interface Waiting {
  signal: AbortSignal;
  next: NextChange;
  /** Called with states other than the last one. */
  onStatus: (status: Status) => void;
}
