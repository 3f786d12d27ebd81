import { createInterface } from "node:readline/promises";

import { UsageError } from "./flags.ts";

/**
 * Asks on the terminal. @returns whether the answer is yes
 * @throws UsageError without a terminal, which cannot ask
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${question} Pass --yes to confirm without a terminal.`);
  return ask(`${question} Type yes to continue: `);
}

/** Asks on the terminal, which the caller has tested. @returns whether the answer is yes */
export async function ask(prompt: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(prompt)).trim());
  } finally {
    terminal.close();
  }
}
