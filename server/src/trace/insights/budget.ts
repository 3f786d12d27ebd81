/** Money of a job: each call is admitted only if it fits, and is accounted for when it has ended. */
import { AppError } from "../../base/errors.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Cost } from "../models/budget.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { addSpending, type ClaimedJob } from "./queue-sql.ts";

/** Ends a job before its work is done; what it has stays, and it can be resumed. */
export class StopJob extends Error {
  override name = "StopJob";
  readonly reason: "budget" | "model" | "empty";

  constructor(reason: StopJob["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Charged<T> {
  value: T;
  cost: Cost | null;
  tokens: number;
}

export class JobBudget {
  readonly #sql: Sql;
  readonly #job: ClaimedJob;
  #spent: bigint;
  #pending = 0n;
  /** Part of the budget that is kept for later stages. */
  #kept = 0n;

  constructor(sql: Sql, job: ClaimedJob) {
    this.#sql = sql;
    this.#job = job;
    this.#spent = parseDecimal(job.spent_usd) ?? 0n;
  }

  keep(amount: bigint): void {
    const { budget_usd: limit } = this.#job;
    // never so much that nothing is left for the work before
    const most = limit === null ? 0n : (parseDecimal(limit) ?? 0n) / 4n;
    this.#kept = amount < most ? amount : most;
  }

  /**
   * Runs a call whose cost is estimated.
   * @throws StopJob when the job's budget, or the workspace's, does not cover it
   */
  async spend<T>(estimate: string | undefined, call: () => Promise<Charged<T>>): Promise<T> {
    const { budget_usd: limit } = this.#job;
    const amount = parseDecimal(estimate ?? "0") ?? 0n;
    if (limit !== null && this.#spent + this.#pending + this.#kept + amount > (parseDecimal(limit) ?? 0n)) {
      throw new StopJob(
        "budget",
        `The budget of ${limit} USD does not cover the next call: ${formatDecimal(this.#spent)} USD are spent. ` +
          "Resume the job with a greater budget.",
      );
    }
    this.#pending += amount;
    try {
      const { value, cost, tokens } = await call();
      this.#spent += parseDecimal(cost?.total ?? "0") ?? 0n;
      await addSpending(this.#sql, this.#job, { cost: cost?.total ?? "0", tokens });
      return value;
    } catch (error) {
      if (error instanceof AppError && error.status === 402) throw new StopJob("budget", error.message);
      throw error;
    } finally {
      this.#pending -= amount;
    }
  }
}
