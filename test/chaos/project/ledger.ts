import { appendFileSync } from "node:fs";

import type { LangGraphRunnableConfig } from "@langchain/langgraph";

let executions = 0;

/** Returns an id for one call of a node in this process. */
export const nextExecution = (): string => `${process.pid}.${++executions}`;

/** Returns the machine's monotonic clock in ms, which no fault affects. */
export const monotonic = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

/**
 * Appends a line to the effects ledger, the file that `CHAOS_LEDGER` names. O_APPEND keeps the lines of all processes
 * in write order; `t` is the time by the monotonic clock.
 */
export function record(config: LangGraphRunnableConfig, line: Record<string, unknown>): void {
  const file = process.env["CHAOS_LEDGER"];
  if (!file) return;
  const { run_id: run, thread_id: thread } = config.configurable as { run_id: string; thread_id: string };
  const attempt = (config.metadata as { run_attempt?: number } | undefined)?.run_attempt ?? 0;
  appendFileSync(file, `${JSON.stringify({ t: monotonic(), run, thread, attempt, pid: process.pid, ...line })}\n`);
}
