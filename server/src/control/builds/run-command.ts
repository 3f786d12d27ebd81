import { GUARD, runProcessGroup } from "../../base/process-group.ts";
import { BuildError } from "./build-error.ts";
import type { BuildLog } from "../logs/log-writer.ts";

export interface CommandParams {
  /** Command line for a shell. */
  command: string;
  /** What messages call it; by default the command. */
  title?: string | undefined;
  directory: string;
  /** Wraps a program and its arguments to run in the deployment's sandbox. */
  confine: (command: string[]) => string[];
  environment: Record<string, string>;
  log: BuildLog;
  signal: AbortSignal;
  /** Time limit, on the clock of performance.now(). */
  deadline: number;
  limitText: string;
  /** Called with the id of the command's process group. */
  onStart?: (group: number) => void;
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
  const name = params.title ?? quote(command);
  const group = {
    // entered inside the sandbox: the deployment owns the directory and may have replaced it by a link
    cwd: "/",
    env: { ...params.environment, HEDDLE_COMMAND: command },
    signal,
    onStart: params.onStart,
    limitMs: params.deadline - performance.now(),
    onTimeout: () => new BuildError(`${name} was killed: the build took longer than ${params.limitText}.`),
  };
  try {
    const confined = params.confine(["/bin/sh", "-c", GUARDED, params.directory]);
    const first = new FirstError();
    const { code, signal: by } = await runProcessGroup(confined, group, (child, end) => {
      const tooMuch = () =>
        end(new BuildError(`${name} was killed: it printed more than the limit (HEDDLE_BUILD_LOG_MB).`));
      return Promise.all(
        [child.stdout, child.stderr].map((stream) => readLines(stream, { log, budget, tooMuch, first })),
      );
    });
    if (code !== 0) throw new BuildError(`${name} failed with ${by ?? `exit code ${code}`}${first.text()}`);
  } finally {
    await log.flush();
  }
}

const LONGEST = 64 * 1024;

interface Output {
  log: BuildLog;
  budget: { bytes: number };
  tooMuch: () => void;
  first: FirstError;
}

/**
 * Keeps the first line that reports an error: package managers print their usage or a summary after it. Where it ends
 * with a colon, or is followed by uv's chain of causes, the next line or the last cause is added.
 */
export class FirstError {
  #line: string | undefined;
  #waitsFor: "line" | "cause" | undefined;

  read(line: string): void {
    if (this.#line !== undefined && this.#waitsFor === undefined) return;
    // oxlint-disable-next-line no-control-regex -- colours
    const plain = line.slice(0, 2000).replaceAll(/\u001B\[[0-9;]*m/g, "");
    if (this.#line !== undefined) return this.#readDetail(plain);
    if (!ERROR_LINE.test(plain)) return;
    const text = plain.replace(/^\s*(?:npm (?:error|ERR!) ?|×)/, "").trim();
    // npm's first lines: a code, and nothing
    if (text === "" || /^code \w+$/.test(text)) return;
    this.#line = text.slice(0, 500);
    if (/^\s*×/.test(plain)) this.#waitsFor = "cause";
    else if (text.endsWith(":")) this.#waitsFor = "line";
  }

  #readDetail(plain: string): void {
    const detail = plain.replace(/^[\s╰─▶│├]+/, "").trim();
    if (detail === "" || (this.#waitsFor === "cause" && /^\s*├/.test(plain))) return;
    if (this.#waitsFor === "line" || /^\s*╰/.test(plain))
      this.#line = `${this.#line!.replace(/:$/, "")}. ${detail}`.slice(0, 500);
    this.#waitsFor = undefined;
  }

  /** Returns the end of a message: the line after a colon, or a full stop. */
  text(): string {
    return this.#line === undefined ? "." : `: ${this.#line.replace(/:$/, "")}`;
  }
}

/** `×` begins uv's errors; Debian's Python reports its missing package venv without the word. */
const ERROR_LINE =
  /(?:^|[\s[])(?:error|ERR!|ERR_\w+)(?![\w-])|^\s*(?:Uncaught )?\w*Error\b|^\s*× |ensurepip is not|: not found$/i;

/**
 * Reads lines with back-pressure: waits for the database when there are many, so that they don't accumulate in memory.
 */
async function readLines(stream: NodeJS.ReadableStream, output: Output): Promise<void> {
  const { log, budget, tooMuch, first } = output;
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
      for (const line of parts) {
        if (line.trim() === "") continue;
        log.write(line);
        first.read(line);
      }
      lines += parts.length;
      if (lines > 2000) {
        lines = 0;
        await log.flush();
      }
    }
    if (rest.trim() !== "") log.write(rest);
    first.read(rest);
  } catch {
    // the pipe broke with the process; its exit code shows the cause
  }
}

const quote = (command: string): string => `"${command.slice(0, 200)}"`;
