/** Example of a row, as targets see it. The reference outputs are not part of it. */
export interface TargetInput {
  inputs: Record<string, unknown>;
  metadata: Record<string, unknown>;
  example_id: string;
  repetition: number;
}

/** Run of a row, which the target's own runs are placed in. */
export interface RowRun {
  id: string;
  /** Number of this try, from 1. */
  attempt: number;
}

/** Answer of a target, or its failure. */
export interface TargetAnswer {
  outputs: Record<string, unknown> | null;
  error: TargetFailure | null;
  startedAt: Date;
  endedAt: Date;
  /** Runs below the row's run. */
  children: object[];
  total_tokens: number | null;
  cost_usd: string | null;
  /** Added to the metadata of the row's run. */
  metadata: Record<string, unknown>;
}

export interface TargetFailure {
  message: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  retryAfterSeconds: number | null;
  /** Why the whole experiment cannot go on. */
  stop?: string;
}

/** Target with its secrets and connection resolved. */
export interface ReadyTarget {
  /** Name of the rows' runs. */
  name: string;
  metadata: Record<string, unknown>;
  /** Executes the target once. Rejects only when the signal is aborted, and for defects. */
  call(input: TargetInput, run: RowRun, signal: AbortSignal): Promise<TargetAnswer>;
}

/** Makes the outputs of a run of any value. */
export const asOutputs = (value: unknown): Record<string, unknown> | null =>
  value === null || value === undefined
    ? null
    : typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : { output: value };
