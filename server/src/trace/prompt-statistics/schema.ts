import { z } from "zod";

import { microTime } from "../runs/query-schema.ts";

/** Not in the contract: statistics of the traces in which commits of a prompt occur. */

export const params = z.object({ owner: z.string().max(255), repo: z.string().max(255) });

export const query = z.object({
  /** Default: 30 days before `end_time`. */
  start_time: microTime.optional(),
  /** Default: now. */
  end_time: microTime.optional(),
});

const count = z.int().min(0);
const time = z.iso.datetime({ precision: 6 });

const commitStatistics = z.object({
  commit_hash: z.string(),
  /** Traces in which the commit occurs. A trace in which several commits occur counts for each. */
  run_count: count,
  /** Those whose root failed. */
  error_count: count,
  /** Of the roots; null while all are pending. */
  latency_p50_ms: z.number().nullable(),
  latency_p99_ms: z.number().nullable(),
  /** Of all model calls of the traces. */
  total_tokens: count,
  /** US dollars. */
  total_cost: z.number(),
  first_run_at: time,
  last_run_at: time,
  /** Feedback on any run of the traces, by key; `avg` is null if no feedback of the key has a score. */
  feedback: z.record(z.string(), z.object({ n: count, avg: z.number().nullable() })),
});

export const statistics = z.object({
  /** Latest run first, at most 200. */
  commits: z.array(commitStatistics),
});

export type CommitStatistics = z.output<typeof commitStatistics>;
