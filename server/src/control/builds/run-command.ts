import { GUARD, runProcessGroup } from "../../base/process-group.ts";
import { BuildError } from "./build-error.ts";
import type { BuildLog } from "../logs/log-writer.ts";

export interface CommandParams {
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

/** The command runs after the guard of its process group, in its directory. */
const GUARDED = `cd -- "$0" || exit 1; ${GUARD} eval "$HEDDLE_COMMAND" </dev/null`;

/**
 * Runs a command to completion and logs its output by line. Throws BuildError when it fails, or exceeds a limit of time
 * or output.
 */
export async function runCommand(params: CommandParams): Promise<void> {
  const { command, log, signal, budget } = params;
  const group = {
    // entered inside the sandbox: the deployment owns the directory and may have replaced it by a link
    cwd: "/",
    env: { ...params.environment, HEDDLE_COMMAND: command },
    signal,
    limitMs: params.deadline - performance.now(),
    onTimeout: () => new BuildError(`${quote(command)} was killed: the build took longer than ${params.limitText}.`),
  };
  try {
    const confined = params.confine(["/bin/sh", "-c", GUARDED, params.directory]);
    const { code, signal: by } = await runProcessGroup(confined, group, (child, end) => {
      const tooMuch = () =>
        end(new BuildError(`${quote(command)} was killed: it printed more than the limit (HEDDLE_BUILD_LOG_MB).`));
      return Promise.all([child.stdout, child.stderr].map((stream) => readLines(stream, log, budget, tooMuch)));
    });
    if (code !== 0) throw new BuildError(`${quote(command)} failed with ${by ?? `exit code ${code}`}.`);
  } finally {
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
