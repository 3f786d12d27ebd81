/**
 * Judges the runs of existing experiments in the background. The ids of the feedback follow from the experiment's runs,
 * the evaluator and its version, so a judgement is stored once however often it is repeated, and those that exist are
 * not paid for again. A page's cursor is stored after its feedback: a process that dies repeats at most one page.
 */
import { uuid7 } from "../../base/ids.ts";
import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { ch } from "../../base/clickhouse/fragment.ts";
import { fromRuns } from "../runs/selection.ts";
import { selectPage } from "../runs/select-page.ts";
import * as jobs from "./evaluation-sql.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { experimentFeedbackId, judgeExperimentRun } from "./judge-experiment-run.ts";
import { loadEvaluator } from "./load-evaluator.ts";
import { loadSubjects } from "./load-subjects.ts";
import type { LoadedEvaluator } from "./schema.ts";
import { sumUsd } from "./sum-usd.ts";
import { systemPrincipal } from "./system-principal.ts";

const LEASE_SECONDS = 60;
const RENEW_MS = 10_000;
const POLL_MS = 10_000;
/** Evaluations of a process, runs of a page and judgements of an evaluation at the same time. */
const CONCURRENCY = 2;
const PAGE = 20;
const AT_ONCE = 4;
/** Wait after a failure that may pass, such as the provider's limit of requests. */
const PAUSE_SECONDS = 20;
/** Retries of a page. */
const MAX_PAUSES = 5;

type Outcome = Parameters<typeof jobs.releaseEvaluation>[2];

export class ExperimentEvaluator {
  readonly #deps: TraceDeps;
  readonly #worker: LeasedWorker<jobs.ClaimedEvaluation, Outcome>;
  /** Failed attempts at the page of an evaluation. */
  readonly #pauses = new Map<string, number>();

  constructor(deps: TraceDeps) {
    this.#deps = deps;
    const { sql, log } = deps;
    this.#worker = new LeasedWorker({
      kind: "evaluation",
      id: ({ evaluation_id }) => evaluation_id,
      concurrency: CONCURRENCY,
      leaseSeconds: LEASE_SECONDS,
      renewMs: RENEW_MS,
      claim: () => jobs.claimEvaluation(sql, uuid7(), LEASE_SECONDS),
      renew: async (job) => (await jobs.renewEvaluation(sql, job, LEASE_SECONDS)) || "lost",
      work: (job, signal) => this.#work(job, signal),
      release: (job, outcome = { pauseSeconds: PAUSE_SECONDS }) => jobs.releaseEvaluation(sql, job, outcome),
      everyMs: POLL_MS,
      failing: "could not claim evaluations of experiments; will retry",
      log,
    });
  }

  start(): void {
    this.#worker.start();
  }

  wake(): void {
    this.#worker.wake();
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  async #work(job: jobs.ClaimedEvaluation, signal: AbortSignal): Promise<Outcome> {
    const { sql, clickhouse } = this.#deps;
    const evaluator = await loadEvaluator(this.#deps, job.tenant_id, job.evaluator_id, job.version);
    if (!evaluator) return { status: "failed", error: "The evaluator was deleted." };
    const selection = { projects: [job.project_id], is_root: true };
    const scope = await loadScope(this.#deps, RunScope.ofTenant(job.tenant_id));
    if (job.total === null) {
      const statement = ch`select count() as n ${fromRuns(scope, selection)}`;
      const [row] = await readRows<{ n: number }>(clickhouse.forTenant(job.tenant_id), "evaluators.count", statement);
      await jobs.recordTotal(sql, job, Number(row!.n));
    }
    let after = job.cursor_run_id === null ? undefined : { start_time: job.cursor_start_time!, id: job.cursor_run_id };
    for (;;) {
      signal.throwIfAborted();
      const page = { columns: ["r.trace_id"], descending: false, limit: PAGE, after };
      const { rows, next } = await selectPage(this.#deps, scope, selection, page);
      if (rows.length === 0) return { status: "completed" };
      const result = await this.#judgePage(
        job,
        evaluator,
        rows.map((row) => ({ ...row, trace_id: row.trace_id! })),
        signal,
      );
      signal.throwIfAborted();
      const pauses = (this.#pauses.get(job.evaluation_id) ?? 0) + 1;
      if (result.retryable > 0 && pauses <= MAX_PAUSES) {
        this.#pauses.set(job.evaluation_id, pauses);
        return { pauseSeconds: PAUSE_SECONDS, error: result.error! };
      }
      this.#pauses.delete(job.evaluation_id);
      after = { start_time: rows.at(-1)!.start_time, id: rows.at(-1)!.id };
      if (!(await jobs.recordProgress(sql, job, { ...result, after }))) throw new Error("the lease is lost");
      if (!next) return { status: "completed" };
    }
  }

  async #judgePage(
    job: jobs.ClaimedEvaluation,
    evaluator: LoadedEvaluator,
    keys: Parameters<typeof loadSubjects>[3],
    signal: AbortSignal,
  ) {
    const { sql } = this.#deps;
    const principal = systemPrincipal(job.tenant_id);
    const [firstKey = ""] = evaluator.feedback_keys;
    const ids = new Map(keys.map(({ id }) => [id, experimentFeedbackId(evaluator, id, firstKey)]));
    const stored = await jobs.findStored(sql, job.tenant_id, [...ids.values()]);
    const missing = keys.filter(({ id }) => !stored.has(ids.get(id)!));
    const { subject: kind } = evaluator.definition;
    const subjects = await loadSubjects(this.#deps, job.tenant_id, { kind, needs: evaluator.needs }, missing);
    const metadata = { experiment_id: job.project_id, ...(job.rule_id !== null && { rule_id: job.rule_id }) };
    const judgements = await inParallel(subjects, AT_ONCE, (subject) =>
      judgeExperimentRun(this.#deps, principal, evaluator, subject, { signal, metadata }),
    );
    const failures = judgements.filter(({ error }) => error !== null);
    return {
      done: keys.length,
      errors: failures.length,
      retryable: failures.filter(({ retryable }) => retryable).length,
      usd: sumUsd(judgements.map((judgement) => judgement.cost_usd)) ?? "0",
      error: failures[0]?.error ?? null,
    };
  }
}
