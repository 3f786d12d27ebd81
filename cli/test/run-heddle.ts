import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../bin/heddle.js", import.meta.url));

export interface ExitedCommand {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

/** Runs the command line to its end, outside of the repository. `env` is the whole environment besides PATH. */
export function runHeddle(args: string[], env: Record<string, string> = {}, input?: string): Promise<ExitedCommand> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [LAUNCHER, ...args],
      { cwd: tmpdir(), env: { PATH: process.env["PATH"], ...env } },
      (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : null;
        resolve({ code: error ? code : 0, signal: error?.signal ?? null, stdout, stderr });
      },
    );
    child.stdin!.end(input);
  });
}
