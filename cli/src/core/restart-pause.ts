const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** After the death of a process that had answered, or was killed from outside: its start does not fail. */
const LONGEST_AFTER_KILL_MS = 4000;
/** Uptime after which a death is not attributed to the start. */
const STEADY_MS = 60_000;

export interface Death {
  uptimeMs: number;
  /** Whether the process had answered since it started. */
  hasAnswered: boolean;
  signal: string | null;
}

/** Signals that a process does not send itself; a crash is another one, such as SIGSEGV or SIGABRT. */
export const isKill = (signal: string | null): boolean =>
  signal !== null && ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"].includes(signal);

/** Returns the pause in ms before a restart: it doubles with each death soon after a start. */
export function restartPause(previousMs: number, { uptimeMs, hasAnswered, signal }: Death): number {
  if (uptimeMs > STEADY_MS || previousMs === 0) return FIRST_MS;
  return Math.min(previousMs * 2, hasAnswered || isKill(signal) ? LONGEST_AFTER_KILL_MS : LONGEST_MS);
}
