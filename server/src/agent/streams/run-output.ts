import type { RunResult } from "../../../../host-kit/src/host-protocol.ts";
import type { RunStatus } from "./finished-run.ts";

/**
 * Builds the output of a run, which is the response of `wait` and `join`: the last values of the stream, else the
 * thread's values, else null; `__error__` when the run failed.
 * @param values returns the JSON text of the thread's values; called only if they are the output
 * @returns JSON text
 */
export function buildOutput(
  status: RunStatus | "deleted",
  error: { error: string; message: string } | undefined,
  lastValues: Buffer | undefined,
  values: () => string | null,
): Buffer | string {
  if (status === "deleted") return errorOutput({ error: "RunRolledBack", message: "The run was rolled back." });
  if (status === "error" || status === "timeout") {
    return errorOutput(error ?? { error: "RunFailed", message: `The run ended with status ${status}.` });
  }
  return lastValues ?? values() ?? "null";
}

/** Returns the values of a state that has no lists stored separately, as JSON text. */
export const valuesText = (state: string): string => JSON.stringify((JSON.parse(state) as RunResult).values ?? null);

/** Whether a state has lists stored separately from its values. */
export const isSplit = (state: string): boolean => state.startsWith('{"lists":');

/** Joins the values of a state and its lists to JSON text; null where the lists keep stored items. */
export function joinedText(state: string): string | null {
  const { values, lists = {} } = JSON.parse(state) as RunResult;
  if (Object.values(lists).some(({ keep }) => keep > 0)) return null;
  const items = Object.entries(lists).map(([channel, list]) => [channel, list.items]);
  return JSON.stringify({ ...(values as object), ...Object.fromEntries(items) });
}

export function errorOutput(error: { error: string; message: string }): string {
  return JSON.stringify({ __error__: { error: error.error, message: error.message } });
}
