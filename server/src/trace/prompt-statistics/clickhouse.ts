/**
 * Runs of a prompt. The clients add the prompt's owner, name and commit to the metadata of a pulled prompt, and
 * LangChain passes them to the run of the prompt template alone: the model call is its sibling. So the unit of all
 * statistics is the trace in which the prompt occurs.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { all, any, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { HAS_FAILED, IS_HEAD, RUN_LATENCY } from "../run-rows/clickhouse.ts";
import { ENTRY, pairText, VALUE } from "../run-rows/pairs.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromPieces, fromRuns } from "../runs/selection.ts";
import { sumOfTrace } from "../runs/trace-sums.ts";

export interface PromptRuns {
  /** Names of the owner in the runs' metadata: `-` for the workspace's own prompts. */
  owners: readonly string[];
  repo: string;
  since: MicroTime;
  until: MicroTime;
  /** The same bounds with a day on both sides, because a trace begins before its prompt runs and ends after it. */
  wide: { since: MicroTime; until: MicroTime };
}

export interface CommitRow {
  commit_hash: string;
  run_count: number;
  error_count: number;
  latency_p50_ms: number | null;
  latency_p99_ms: number | null;
  total_tokens: number | null;
  /** Decimal text. */
  total_cost: string | null;
  first_run_at: MicroTime;
  last_run_at: MicroTime;
}

export interface FeedbackRow {
  commit_hash: string;
  feedback_key: string;
  n: number;
  avg: number | null;
}

/** Prompt runs considered, the newest ones. */
const MAX_PROMPT_RUNS = 100_000;
const MAX_COMMITS = 200;
const MAX_FEEDBACK = 10_000;

/** Commit in a run's metadata; empty without one. */
const COMMIT = "extract(ifNull(r.metadata, ''), '\\x1Elc_hub_commit_hash\\x1F([^\\x1E]+)')";

const holds = (key: string, value: string): Fragment =>
  ch`position(ifNull(r.metadata, ''), ${bind("String", `${ENTRY}${key}${VALUE}${pairText(value)}${ENTRY}`)}) > 0`;

/** Condition on a run, or on a piece of one: it has a commit of the prompt in its metadata. */
const usesPrompt = ({ owners, repo }: PromptRuns): Fragment =>
  all([holds("lc_hub_repo", repo), any(owners.map((owner) => holds("lc_hub_owner", owner))), raw(`${COMMIT} != ''`)]);

/**
 * Selects traces with the prompt. Reads unmerged pieces, and of those only the metadata, so that only runs of these
 * traces are merged. Statistics over 100,000 runs, a quarter of them of the prompt, take 0.1 s; over a million 0.9 s.
 */
const promptTraces = (scope: RunScope, prompt: PromptRuns): Fragment => {
  const { since, until } = prompt;
  return ch`select r.trace_id ${fromPieces(scope, { since, until }, [usesPrompt(prompt)])}
    order by r.start_time desc limit ${bind("UInt32", MAX_PROMPT_RUNS)}`;
};

/** Computes statistics by commit, the commit with the latest trace first. */
export function computeCommitStatistics(
  clickhouse: ClickHouse,
  scope: RunScope,
  prompt: PromptRuns,
): Promise<CommitRow[]> {
  const inTraces = ch`r.trace_id in (${promptTraces(scope, prompt)})`;
  const statement = ch`
    select commit as commit_hash, count() as run_count, countIf(failed) as error_count,
      quantileExactInclusive(0.5)(latency) * 1000 as latency_p50_ms,
      quantileExactInclusive(0.99)(latency) * 1000 as latency_p99_ms,
      sum(trace_total_tokens) as total_tokens, sum(trace_total_cost) as total_cost,
      min(started) as first_run_at, max(started) as last_run_at
    from (
      select groupUniqArrayIf(${raw(COMMIT)}, ${usesPrompt(prompt)}) as commits,
        anyIf(${raw(HAS_FAILED)}, ${raw(IS_HEAD)}) as failed, anyIf(${raw(RUN_LATENCY)}, ${raw(IS_HEAD)}) as latency,
        min(r.start_time) as started, ${raw(sumOfTrace("total_tokens"))} as trace_total_tokens,
        ${raw(sumOfTrace("total_cost"))} as trace_total_cost
      ${fromRuns(scope, prompt.wide, [inTraces])}
      group by r.trace_id
    )
    array join commits as commit
    group by commit order by last_run_at desc, commit limit ${bind("UInt32", MAX_COMMITS)}`;
  // checking a set of thousands of traces against the index costs more than it saves
  const settings = { use_skip_indexes: 0 } as const;
  return readRows<CommitRow>(clickhouse.forTenant(scope.tenantId), "prompts.statistics", statement, settings);
}

/** Computes the feedback on traces with the prompt, by commit and key. */
export function computeCommitFeedback(
  clickhouse: ClickHouse,
  scope: RunScope,
  prompt: PromptRuns,
): Promise<FeedbackRow[]> {
  const { since, until } = prompt;
  const tenant = bind("UUID", scope.tenantId);
  const withFeedback = ch`r.trace_id in (
    select assumeNotNull(ifNull(trace_id, run_id)) from feedback where tenant_id = ${tenant})`;
  const statement = ch`
    select used.commit as commit_hash, f.key as feedback_key, count() as n, avg(f.score) as avg
    from feedback as f final
    inner join (
      select distinct r.trace_id as trace, ${raw(COMMIT)} as commit
      ${fromPieces(scope, { since, until }, [usesPrompt(prompt), withFeedback])}
      limit ${bind("UInt32", MAX_PROMPT_RUNS)}
    ) as used on used.trace = assumeNotNull(ifNull(f.trace_id, f.run_id))
    where f.tenant_id = ${tenant}
    group by commit_hash, feedback_key order by commit_hash, feedback_key limit ${bind("UInt32", MAX_FEEDBACK)}`;
  return readRows<FeedbackRow>(clickhouse.forTenant(scope.tenantId), "prompts.feedback", statement);
}
