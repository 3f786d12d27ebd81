import { vi } from "vitest";

import { COMMANDS } from "../src/commands.ts";

/** Runs a command in this process. Returns what it printed, and its exit code. */
export async function runInside(noun: string, ...args: string[]): Promise<{ output: string; code: number }> {
  const printed: string[] = [];
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  const errors = vi.spyOn(console, "error").mockImplementation((text) => void printed.push(`${String(text)}\n`));
  try {
    await COMMANDS[noun]!.run(args);
    return { output: printed.join(""), code: Number(process.exitCode ?? 0) };
  } finally {
    process.exitCode = undefined;
    writing.mockRestore();
    errors.mockRestore();
  }
}
