import type { RunStatus } from "./finished-run.ts";

/**
 * Builds the response of `wait` and `join` (contract §7.5): the last values of the stream, else the thread's values,
 * else null; `__error__` when the run failed.
 * @returns JSON text
 */
export function buildAnswer(
  status: RunStatus | "deleted",
  error: { error: string; message: string } | undefined,
  lastValues: Buffer | undefined,
  state: string | null,
): Buffer | string {
  if (status === "deleted") return errorAnswer({ error: "RunRolledBack", message: "The run was rolled back." });
  if (status === "error" || status === "timeout") {
    return errorAnswer(error ?? { error: "RunFailed", message: `The run ended with status ${status}.` });
  }
  if (lastValues) return lastValues;
  if (state !== null) return JSON.stringify((JSON.parse(state) as { values?: unknown }).values ?? null);
  return "null";
}

export function errorAnswer(error: { error: string; message: string }): string {
  return JSON.stringify({ __error__: { error: error.error, message: error.message } });
}
