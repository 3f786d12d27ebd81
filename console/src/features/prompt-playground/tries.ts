import type { Answer } from "./answer.ts";

/** Number of tries that the page lists; all are traces of the playground's project. */
export const MAX_TRIES = 50;
const PREVIEW_LENGTH = 160;

/** Run of a column that has ended. */
export interface Try {
  runId: string | null;
  projectId: string | null;
  /** ISO time. */
  at: string;
  /** Letter of its column. */
  column: string;
  model: string;
  status: Answer["status"];
  preview: string;
  latencyMs: number | null;
  totalTokens: number | null;
  cost: string | null;
}

/** Adds a try in front, and drops the oldest above the limit. */
export function addTry(tries: readonly Try[], column: string, answer: Answer): Try[] {
  const { runId, projectId, startedAt, model, status, latencyMs, usage, cost } = answer;
  const preview = (answer.error?.message ?? (answer.text || answer.toolCalls.map(({ name }) => `${name}()`).join(", ")))
    .replaceAll(/\s+/g, " ")
    .slice(0, PREVIEW_LENGTH);
  const at = new Date(startedAt).toISOString();
  const entry = { runId, projectId, at, column, model, status, preview, latencyMs, cost };
  return [{ ...entry, totalTokens: usage?.total_tokens ?? null }, ...tries].slice(0, MAX_TRIES);
}
