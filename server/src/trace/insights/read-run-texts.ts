import type { TraceDeps } from "../deps.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { readTexts } from "./clickhouse.ts";
import type { JobOptions } from "./options.ts";
import type { SampledRun } from "./run-sql.ts";
import { findComments } from "./score-sql.ts";
import { failureOf, questionOf } from "./text-of-run.ts";

/** Returns the texts of runs by id; those of deleted runs, and of runs without a text, are missing. */
export async function readRunTexts(
  { sql, clickhouse }: Pick<TraceDeps, "sql" | "clickhouse">,
  scope: RunScope,
  subject: JobOptions["subject"],
  runs: readonly SampledRun[],
): Promise<Map<string, string>> {
  const rows = await readTexts(clickhouse, scope, runs);
  const traces = new Map(runs.map((run) => [run.run_id, run.trace_id]));
  const comments =
    subject === "failures" ? await findComments(sql, scope.tenantId, [...traces.values()]) : new Map<string, string>();
  const texts = rows.map((row): [string, string] => [
    row.id,
    subject === "questions" ? questionOf(row) : failureOf(row, comments.get(traces.get(row.id) ?? "")),
  ]);
  return new Map(texts.filter(([, text]) => text !== ""));
}
