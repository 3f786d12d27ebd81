import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

import { coerceError } from "./errors.ts";

export type GroupLeader = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ProcessGroupOptions {
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
  /** Time limit in milliseconds. */
  limitMs: number;
  /** Creates the error for a command that exceeds the time limit. */
  onTimeout: () => Error;
  /** Called with the id of the group. */
  onStart?: ((group: number) => void) | undefined;
}

/**
 * Part of a shell command, ahead of the actual one, that guards the process group: it waits for the end of the standard
 * input, then kills the group. This process holds the other end, so it closes when this process dies in any way: no
 * command outlives its starter. A shell gives background commands an empty input, hence the duplicate descriptor.
 */
export const GUARD = "exec 3<&0; { cat <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-;";

/**
 * Runs a shell command that contains `GUARD` in its own process group, which is killed when the command has
 * exited, at the time limit and on abort. `read` consumes the output; it may end the command with an error.
 * @returns how the command exited. Throws the first error that ended it
 */
export async function runProcessGroup(
  [program, ...args]: string[],
  { cwd, env, signal, limitMs, onTimeout, onStart }: ProcessGroupOptions,
  read: (child: GroupLeader, end: (reason: unknown) => void) => Promise<unknown>,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  signal.throwIfAborted();
  const child = spawn(program!, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {});
  if (child.pid !== undefined) onStart?.(child.pid);
  let failure: Error | undefined;
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // already gone
    }
  };
  const end = (reason: unknown) => {
    failure ??= coerceError(reason);
    kill();
  };
  const onAbort = () => end(signal.reason);
  signal.addEventListener("abort", onAbort);
  const timer = setTimeout(() => end(onTimeout()), Math.max(0, limitMs));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal: signal }));
  });
  exited.catch(() => {});
  const reading = read(child, end);
  try {
    const exit = await exited;
    // background processes end with the command and release the pipes
    kill();
    await reading;
    if (failure) throw failure;
    return exit;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    kill();
  }
}
