import { spawn } from "node:child_process";

import { BuildError } from "../drivers/driver.ts";
import type { BuildLog } from "../logs/log-writer.ts";

export interface CommandOrder {
  /** Command line for a shell. */
  command: string;
  directory: string;
  /** Wraps a program and its arguments to run in the deployment's sandbox. */
  confine: (command: string[]) => string[];
  environment: Record<string, string>;
  log: BuildLog;
  signal: AbortSignal;
  /** Time limit, on the clock of performance.now(). */
  deadline: number;
  limitText: string;
  /** Remaining bytes of output, shared by all commands of a build. */
  budget: { bytes: number };
}

/**
 * Shell wrapper that puts the command into its own process group, with a guard that waits for the end of its standard
 * input. This process holds the other end, so it closes when this process dies in any way, and the guard then kills the
 * group: no build outlives its builder. A shell gives background commands an empty input, hence the duplicate
 * descriptor.
 */
const GUARDED =
  'cd -- "$0" || exit 1; exec 3<&0; { cat <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-; eval "$HEDDLE_COMMAND" </dev/null';

/**
 * Runs a command to completion and logs its output by line. Throws BuildError when it fails, or exceeds a limit of time
 * or output.
 */
export async function runCommand(order: CommandOrder): Promise<void> {
  const { command, log, signal, budget } = order;
  signal.throwIfAborted();
  const [program, ...args] = order.confine(["/bin/sh", "-c", GUARDED, order.directory]);
  // entered inside the sandbox: the deployment owns the directory and may have replaced it by a link
  const child = spawn(program!, args, {
    cwd: "/",
    env: { ...order.environment, HEDDLE_COMMAND: command },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  let failure: Error | undefined;
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // already gone
    }
  };
  const end = (reason: Error) => {
    failure ??= reason;
    kill();
  };
  const onAbort = () => end(signal.reason as Error);
  signal.addEventListener("abort", onAbort);
  const timer = setTimeout(
    () => end(new BuildError(`${quote(command)} was killed: the build took longer than ${order.limitText}.`)),
    Math.max(0, order.deadline - performance.now()),
  );
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve({ code, signal: by }));
  });
  exited.catch(() => {});
  const tooMuch = () =>
    end(new BuildError(`${quote(command)} was killed: it printed more than the limit (HEDDLE_BUILD_LOG_MB).`));
  const reading = Promise.all([child.stdout, child.stderr].map((stream) => readLines(stream, log, budget, tooMuch)));
  try {
    const { code, signal: by } = await exited;
    // background processes end with the command and release the pipes
    kill();
    await reading;
    if (failure) throw failure;
    if (code !== 0) throw new BuildError(`${quote(command)} failed with ${by ?? `exit code ${code}`}.`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    kill();
    await log.flush();
  }
}

const LONGEST = 64 * 1024;

/**
 * Reads lines with back-pressure: waits for the database when there are many, so that they don't accumulate in memory.
 */
async function readLines(
  stream: NodeJS.ReadableStream,
  log: BuildLog,
  budget: { bytes: number },
  tooMuch: () => void,
): Promise<void> {
  let rest = "";
  let lines = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      budget.bytes -= chunk.length;
      if (budget.bytes < 0) {
        tooMuch();
        return;
      }
      const parts = (rest + chunk.toString("utf8")).split(/\r?\n|\r/);
      rest = parts.pop()!;
      if (rest.length > LONGEST) parts.push(rest.slice(0, LONGEST));
      if (rest.length > LONGEST) rest = "";
      for (const line of parts) if (line.trim() !== "") log.write(line);
      lines += parts.length;
      if (lines > 2000) {
        lines = 0;
        await log.flush();
      }
    }
    if (rest.trim() !== "") log.write(rest);
  } catch {
    // the pipe broke with the process; its exit code shows the cause
  }
}

const quote = (command: string): string => `"${command.slice(0, 200)}"`;
