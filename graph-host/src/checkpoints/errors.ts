/** The run belongs to another attempt or no longer runs: nothing of the item was written. */
export class FencedError extends Error {
  override name = "FencedError";

  constructor(runId: string, attempt: number) {
    super(`Attempt ${attempt} of run ${runId} has been superseded; its writes are rejected`);
  }
}

/** The thread of a state update has changed: a run is active or a newer checkpoint exists. Nothing was written. */
export class HeadMovedError extends Error {
  override name = "HeadMovedError";

  constructor(threadId: string) {
    super(`Thread ${threadId} has changed since the update was accepted, or is gone; nothing was written`);
  }
}

/** A checkpoint that could never become the thread's newest, because its id is below an earlier one. */
export class CheckpointOrderError extends Error {
  override name = "CheckpointOrderError";

  constructor(threadId: string, ns: string, id: string, newest: string | undefined) {
    const location = ns === "" ? `thread ${threadId}` : `namespace "${ns}" of thread ${threadId}`;
    super(
      `Checkpoint ${id} is older than ${newest}, the newest of ${location}, by its id, so its state would be lost. ` +
        "A clock was ahead or stepped back, and the graph's copy of @langchain/langgraph-checkpoint makes ids by the " +
        "clock alone. Install @langchain/langgraph unbundled, as a dependency of the project.",
    );
  }
}

/** The thread's values were stored by a Python graph, and JavaScript cannot load them. */
export class OtherLanguageError extends Error {
  override name = "OtherLanguageError";

  constructor(threadId: string) {
    super(
      `Thread ${threadId} was written by a Python graph, and a JavaScript graph cannot continue it. Use a new thread.`,
    );
  }
}

/** A value of a state is larger than the limit. The checkpoint with it is not written. */
export class ValueTooLargeError extends Error {
  override name = "ValueTooLargeError";

  constructor(threadId: string, channel: string, bytes: number, limit: number) {
    const mebibytes = (size: number) => Math.ceil(size / 1024 / 1024);
    super(
      `The value of "${channel}" in thread ${threadId} is ${mebibytes(bytes)} MiB as it is stored; the limit is ` +
        `${mebibytes(limit)} MiB (HEDDLE_MAX_VALUE_MB). Store large content elsewhere and keep a reference in the state.`,
    );
  }
}

/** The database was unreachable for longer than allowed; the item may or may not have been written. */
export class DatabaseAwayError extends Error {
  override name = "DatabaseAwayError";

  constructor(milliseconds: number, cause: unknown) {
    super(`The database has been unreachable for ${Math.round(milliseconds / 1000)} s`, { cause });
  }
}

/** Errors of the driver and the operating system that mean that no answer arrived. */
const LOST = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
]);

/**
 * Transient SQLSTATEs: connection (08), insufficient resources (53), shutdown and start-up (57P), serialization and
 * deadlock (40), a standby that does not accept writes yet (25006), and a system I/O error (58).
 */
const PASSING = /^(08...|53...|57P..|40...|25006|58...)$/;

export function isPassingError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && (LOST.has(code) || PASSING.test(code));
}
