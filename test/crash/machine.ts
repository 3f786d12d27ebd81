import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Time in which a process loads LangGraph on the machine that the limits were set for. */
const REFERENCE_MS = 700;

/**
 * Returns how much slower this machine currently is, at least 1. Limits in seconds are for a machine that loads
 * LangGraph in 0.7 s, which is most of a graph host's start.
 */
export async function machineFactor(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const startedAt = performance.now();
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", 'await import("@langchain/langgraph")']);
    times.push(performance.now() - startedAt);
  }
  return Math.max(1, times.toSorted((a, b) => a - b)[1]! / REFERENCE_MS);
}
