import { DatabaseAwayError, FencedError } from "../checkpoints/errors.ts";
import type { RunEnd } from "../../../host-kit/src/host-protocol.ts";
import { errorName, toJson } from "../serialize.ts";
import type { Stop } from "./active-run.ts";

/** Returns the end of a run whose graph threw `thrown`. */
export function toOutcome(thrown: unknown, stopped: Stop | undefined): Stop {
  // The saver's errors take precedence: an error of user code that follows from one is not the user's fault.
  if (hasCause(thrown, FencedError)) return { outcome: "fenced" };
  if (stopped) return stopped;
  if (hasCause(thrown, DatabaseAwayError)) return { outcome: "retry", error: describeError(thrown) };
  return { outcome: "error", error: describeError(thrown) };
}

/**
 * Searches nested causes: LangGraph collects errors of parallel tasks in an AggregateError, and user code may wrap
 * errors.
 */
function hasCause(error: unknown, kind: new (...args: never[]) => Error, depth = 0): boolean {
  if (error instanceof kind) return true;
  if (!(error instanceof Error) || depth === 8) return false;
  if (error instanceof AggregateError && error.errors.some((inner) => hasCause(inner, kind, depth + 1))) return true;
  return hasCause(error.cause, kind, depth + 1);
}

export function describeError(thrown: unknown): NonNullable<RunEnd["error"]> {
  if (thrown instanceof Error) return { error: errorName(thrown), message: thrown.message, stack: thrown.stack };
  if (typeof thrown === "string") return { error: "Error", message: thrown };
  return { error: "Error", message: printed(thrown) };
}

function printed(thrown: unknown): string {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown && typeof thrown.message === "string")
    return thrown.message;
  try {
    return toJson(thrown);
  } catch {
    return String(thrown);
  }
}
