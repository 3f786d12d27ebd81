import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { unprocessable } from "../../base/errors.ts";
import { type MicroTime, parseTime } from "../run-rows/times.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { computeCommitFeedback, computeCommitStatistics, type PromptRuns } from "./clickhouse.ts";
import type { CommitStatistics } from "./schema.ts";

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

/** Returns the statistics of a prompt by commit, latest run first. @throws 422 for a window that ends before it starts */
export async function readStatistics(
  { clickhouse }: { clickhouse: ClickHouse },
  scope: RunScope,
  { owners, repo }: Pick<PromptRuns, "owners" | "repo">,
  { start_time, end_time }: { start_time?: MicroTime | undefined; end_time?: MicroTime | undefined },
): Promise<CommitStatistics[]> {
  const until = end_time ?? shifted(Date.now(), 0);
  const since = start_time ?? shifted(milliseconds(until), -DEFAULT_DAYS);
  if (since > until) throw unprocessable("start_time: must not be after end_time");
  const wide = { since: shifted(milliseconds(since), -1), until: shifted(milliseconds(until), 1) };
  const prompt = { owners, repo, since, until, wide };
  const [commits, feedback] = await Promise.all([
    computeCommitStatistics(clickhouse, scope, prompt),
    computeCommitFeedback(clickhouse, scope, prompt),
  ]);
  return commits.map(({ total_tokens, total_cost, first_run_at, last_run_at, ...row }) => ({
    ...row,
    total_tokens: total_tokens ?? 0,
    total_cost: Number(total_cost ?? 0),
    first_run_at: isoTime(first_run_at),
    last_run_at: isoTime(last_run_at),
    feedback: Object.fromEntries(
      feedback
        .filter(({ commit_hash }) => commit_hash === row.commit_hash)
        .map(({ feedback_key, n, avg }) => [feedback_key, { n, avg }]),
    ),
  }));
}

const milliseconds = (time: MicroTime): number => Date.parse(`${time.replace(" ", "T")}Z`);
const isoTime = (time: MicroTime): string => `${time.replace(" ", "T")}Z`;

/** Returns the time some days later; the first or last storable time beyond the range. */
const shifted = (ms: number, days: number): MicroTime =>
  parseTime(ms + days * DAY_MS) ?? (days < 0 ? "1900-01-01 00:00:00.000000" : "2298-12-31 23:59:59.999999");
