/** Runs of a row: they are composed once, stored with the row, and sent to the store of traces as often as needed. */
import { uuid5 } from "../../base/ids.ts";
import type { TargetAnswer, TargetInput } from "./answer.ts";

interface Place {
  id: string;
  at: Date;
}

/** Formats the place of runs in their trace. */
export const dottedOrder = (...runs: Place[]): string =>
  runs.map(({ id, at }) => `${at.toISOString().replaceAll(/[-:.]/g, "").slice(0, -1)}000Z${id}`).join(".");

/** Returns the id of a row's run: a row has the same run however often it is executed, until its retry is requested. */
export const rowRunId = (
  projectId: string,
  { example_id, repetition, round }: { example_id: string; repetition: number; round: number },
): string => uuid5(`${example_id} ${repetition} ${round}`, projectId);

/** What is stored of a row until it has ended. */
export interface RowResult {
  run: {
    id: string;
    trace_id: string;
    name: string;
    run_type: "chain";
    session_id: string;
    start_time: string;
    end_time: string;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown> | null;
    error: string | null;
    reference_example_id: string;
    extra: { metadata: Record<string, unknown> };
    [field: string]: unknown;
  };
  children: object[];
  latency_ms: number;
  total_tokens: number | null;
  cost_usd: string | null;
}

/** Composes the run of a row with those below it. */
export function composeResult(
  input: TargetInput,
  answer: TargetAnswer,
  {
    id,
    name,
    projectId,
    tries,
    metadata,
  }: { id: string; name: string; projectId: string; tries: number; metadata: Record<string, unknown> },
): RowResult {
  const { startedAt, endedAt, outputs, error, children, total_tokens, cost_usd } = answer;
  return {
    run: {
      id,
      trace_id: id,
      dotted_order: dottedOrder({ id, at: startedAt }),
      name,
      run_type: "chain",
      session_id: projectId,
      start_time: startedAt.toISOString(),
      end_time: endedAt.toISOString(),
      status: error ? "error" : "success",
      inputs: input.inputs,
      outputs,
      error: error?.message ?? null,
      reference_example_id: input.example_id,
      extra: {
        metadata: {
          ...metadata,
          ...answer.metadata,
          heddle_source: "experiment",
          heddle_repetition: input.repetition,
          ...(tries > 1 && { heddle_tries: tries }),
        },
      },
    },
    children,
    latency_ms: endedAt.getTime() - startedAt.getTime(),
    total_tokens,
    cost_usd,
  };
}
