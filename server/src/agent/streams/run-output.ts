import type { RunResult } from "../../../../host-kit/src/host-protocol.ts";
import { withMember } from "../../base/json-member.ts";
import type { RunStatus } from "./finished-run.ts";

/**
 * Builds the output of a run, which is the response of `wait` and `join`: the last values of the stream, else the
 * thread's values, else null; `__error__` when the run failed. A run that left questions to answer has them as
 * `__interrupt__`, also where another branch ended after the one that asks, so that the last values lack them.
 * @param values returns the JSON text of the thread's values; called only if they are the output
 * @param interrupts returns the JSON text of the list of questions, if there are any; called unless the run failed
 * @returns JSON text
 */
export function buildOutput(
  status: RunStatus | "deleted",
  error: { error: string; message: string } | undefined,
  lastValues: Buffer | undefined,
  values: () => string | null,
  interrupts: () => string | null | undefined,
): Buffer | string {
  if (status === "deleted") return errorOutput({ error: "RunRolledBack", message: "The run was rolled back." });
  if (status === "error" || status === "timeout") {
    return errorOutput(error ?? { error: "RunFailed", message: `The run ended with status ${status}.` });
  }
  const output = lastValues ?? values() ?? "null";
  const asked = interrupts();
  if (asked == null) return output;
  const text = output.toString();
  if (text === "null") return `{"__interrupt__":${asked}}`;
  const mayHave = text.includes('"__interrupt__"');
  if (mayHave && Object.hasOwn((JSON.parse(text) ?? {}) as object, "__interrupt__")) return output;
  return withMember(text, "__interrupt__", asked);
}

/** Returns the questions of a state as the JSON text of a list; undefined without any, for which it is not parsed. */
export function interruptsIn(state: string): string | undefined {
  const name = '"interrupts":{';
  const at = state.lastIndexOf(name);
  if (at < 0 || state[at + name.length] === "}") return undefined;
  const asked = Object.values((JSON.parse(state) as RunResult).interrupts ?? {}).flat();
  return asked.length > 0 ? JSON.stringify(asked) : undefined;
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
