import { spawn } from "node:child_process";

import { BuildError } from "../drivers/driver.ts";
import type { BuildLog } from "../logs/log-writer.ts";

export interface CommandOrder {
  /** For a shell. */
  command: string;
  directory: string;
  /** Program and arguments that run a program and its arguments where the deployment's code may run. */
  confine: (command: string[]) => string[];
  environment: Record<string, string>;
  log: BuildLog;
  signal: AbortSignal;
  /** Performance time at which it has to be done. */
  deadline: number;
  limitText: string;
  /** Bytes that may still be printed; counted down over all commands of a build. */
  budget: { bytes: number };
}

/**
 * The command gets a process group of its own, in which a guard waits for the end of its standard input: that is ours,
 * and ends when this process does, however it dies. Then the guard ends the group, so that no build outlives who asked
 * for it. In the background a shell gives commands an empty input, which is why the guard reads by another number.
 */
const GUARDED =
  'cd -- "$0" || exit 1; exec 3<&0; { cat <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-; eval "$HEDDLE_COMMAND" </dev/null';

/** Runs it to its end, line by line into the log. Throws BuildError when it fails, takes or prints too much. */
export async function runCommand(order: CommandOrder): Promise<void> {
  const { command, log, signal, budget } = order;
  signal.throwIfAborted();
  const [program, ...args] = order.confine(["/bin/sh", "-c", GUARDED, order.directory]);
  // the directory is the deployment's own and may be a link by now: it is entered inside
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
      // it is gone
    }
  };
  const end = (reason: Error) => {
    failure ??= reason;
    kill();
  };
  const onAbort = () => end(signal.reason as Error);
  signal.addEventListener("abort", onAbort);
  const timer = setTimeout(
    () => end(new BuildError(`${quote(command)} was ended: the build took longer than ${order.limitText}.`)),
    Math.max(0, order.deadline - performance.now()),
  );
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve({ code, signal: by }));
  });
  exited.catch(() => {});
  const tooMuch = () => end(new BuildError(`${quote(command)} was ended: it printed too much.`));
  const reading = Promise.all([child.stdout, child.stderr].map((stream) => readLines(stream, log, budget, tooMuch)));
  try {
    const { code, signal: by } = await exited;
    // whatever it has left in the background ends with it, and lets go of the pipes
    kill();
    await reading;
    if (failure) throw failure;
    if (code !== 0) throw new BuildError(`${quote(command)} ended with ${by ?? `exit code ${code}`}.`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    kill();
    await log.flush();
  }
}

const LONGEST = 64 * 1024;

/** Waits for the database whenever there is much, so that a build that prints fast is slowed down and not kept in memory. */
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
    // the pipe broke with the process; its exit tells why
  }
}

const quote = (command: string): string => `"${command.slice(0, 200)}"`;
