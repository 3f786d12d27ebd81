import { setTimeout as sleep } from "node:timers/promises";

import { AppError } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import { systemPrincipal } from "../evaluators/system-principal.ts";
import { updateProject } from "../projects/create-project.ts";
import type { ClaimedJob } from "./queue-sql.ts";
import { readyTarget } from "./ready-target.ts";
import * as rows from "./row-sql.ts";
import { runRow, type RowContext } from "./run-row.ts";

/** Rows that are read ahead. */
const PAGE = 100;

/** End of an execution: all rows have ended, or the reason why it cannot go on. */
export type Execution = { event: "complete"; reason: null } | { event: "stop"; reason: string };

/** Executes the open rows of an experiment. Rejects when the signal is aborted, and when a store is unavailable. */
export async function executeExperiment(deps: TraceDeps, job: ClaimedJob, signal: AbortSignal): Promise<Execution> {
  await rows.resetRows(deps.sql, job);
  let context: RowContext;
  try {
    context = await prepare(deps, job, signal);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return { event: "stop", reason: error.message };
  }
  const { concurrency, requests_per_second: perSecond, stop_after_failures: most } = job.options;
  const pauseMs = perSecond == null ? 0 : 1000 / perSecond;
  const running = new Set<Promise<void>>();
  let [failures, startedAt] = [0, Number.NEGATIVE_INFINITY];
  let stopped: string | undefined;
  let failed: Error | undefined;
  const start = (row: rows.OpenRow) => {
    const work = runRow(context, row)
      .then((outcome) => {
        if (outcome.kind === "stop") stopped ??= outcome.reason;
        if (outcome.kind === "done") failures = 0;
        if (outcome.kind !== "failed") return;
        failures++;
        if (most != null && failures >= most) {
          stopped ??= `${failures} examples in a row failed, the last with: ${outcome.error}`;
        }
      })
      .catch((error: unknown) => void (failed ??= error as Error))
      .finally(() => running.delete(work));
    running.add(work);
  };
  const isOver = () => stopped !== undefined || failed !== undefined || signal.aborted;
  for await (const row of openRows(deps, job)) {
    while (running.size >= concurrency && !isOver()) await Promise.race(running);
    const early = startedAt + pauseMs - performance.now();
    // an answer that is stored needs no call
    if (early > 0 && row.status === "pending") await sleep(early, undefined, { signal }).catch(() => {});
    if (isOver()) break;
    if (row.status === "pending") startedAt = performance.now();
    start(row);
  }
  await Promise.all(running);
  signal.throwIfAborted();
  if (failed !== undefined) throw failed;
  if (stopped !== undefined) return { event: "stop", reason: stopped };
  await updateProject(deps.sql, job.tenant_id, job.project_id, { end_time: new Date().toISOString() });
  return { event: "complete", reason: null };
}

async function prepare(deps: TraceDeps, job: ClaimedJob, signal: AbortSignal): Promise<RowContext> {
  const principal = systemPrincipal(job.tenant_id);
  const project = { id: job.project_id, name: job.project_name };
  const target = await readyTarget(deps, principal, job.target, project, job.options.timeout_seconds);
  const evaluators = [];
  for (const { evaluator_id: id, version, name } of job.evaluators) {
    const loaded = await loadEvaluator(deps, job.tenant_id, id, version);
    if (!loaded) throw new AppError(404, `The evaluator "${name}" (${id}, version ${version}) no longer exists.`);
    evaluators.push(loaded);
  }
  return { deps, principal, job, target, evaluators, signal };
}

async function* openRows({ sql }: Pick<TraceDeps, "sql">, job: ClaimedJob): AsyncGenerator<rows.OpenRow> {
  let after = -1;
  for (;;) {
    const page = await rows.listOpenRows(sql, job, after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.row_index;
  }
}
