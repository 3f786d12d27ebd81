/**
 * Executes a job stage by stage: sample, embed, cluster, name, measure. Each stage stores its results as it goes, so a
 * job that was killed, cancelled or stopped continues where it was. When the budget ends before all runs are embedded,
 * the stages after it are done with those that are, and the job stops; resumed, it embeds the rest and clusters anew.
 */
import { AppError } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { ensureJudgeProject } from "../evaluators/sql.ts";
import { resolveEmbedding } from "../models/embed-texts.ts";
import { resolveConnection } from "../models/resolve-connection.ts";
import { parseDecimal } from "../run-rows/decimal.ts";
import { JobBudget, StopJob } from "./budget.ts";
import { type Calling, priceQuestion } from "./call-models.ts";
import { clusterRuns } from "./cluster-runs.ts";
import { embedRuns } from "./embed-runs.ts";
import { measureClusters } from "./measure-clusters.ts";
import { NAME_CHARACTERS, NAME_TOKENS, nameClusters } from "./name-clusters.ts";
import { toConfiguration } from "./options.ts";
import { loadPopulation } from "./population.ts";
import { type ClaimedJob, endJob, LostJob } from "./queue-sql.ts";
import { countRead } from "./run-sql.ts";
import { sampleRuns } from "./sample-runs.ts";
import { findJob, type Stage } from "./sql.ts";

/** Called after each stage; for tests of interruptions. */
export type AfterStage = (stage: Stage, signal: AbortSignal) => Promise<void> | void;

/** Clusters whose names the budget keeps money for. */
const NAMES_KEPT = 12;
/** Fewest vectors of which a stopped job makes clusters. */
const FEWEST = 4;

/** @returns whether the job has ended; otherwise it belongs to another process, or is to be continued by one */
export async function executeJob(
  deps: TraceDeps,
  claimed: ClaimedJob,
  signal: AbortSignal,
  afterStage: AfterStage = () => {},
): Promise<boolean> {
  const job = { ...claimed };
  try {
    await runStages(deps, job, signal, afterStage);
    await endJob(deps.sql, job, "success");
  } catch (error) {
    // another process has it, it was cancelled or deleted, or this process stops
    if (error instanceof LostJob || signal.aborted) return false;
    if (error instanceof StopJob) {
      const state = error.reason === "budget" ? "stopped" : "error";
      await endJob(deps.sql, job, state, { reason: error.reason, error: error.message });
    } else if (error instanceof AppError && error.status < 500) {
      await endJob(deps.sql, job, "error", { reason: "settings", error: error.message });
    } else throw error;
  }
  return true;
}

async function runStages(deps: TraceDeps, job: ClaimedJob, signal: AbortSignal, afterStage: AfterStage) {
  const { tenant_id: tenantId, options } = job;
  const names = await resolveConnection(deps, tenantId, toConfiguration(options.names, { max_tokens: 500 }));
  const summaries = await resolveConnection(deps, tenantId, toConfiguration(options.summaries, { max_tokens: 2000 }));
  const embedding = await resolveEmbedding(deps, tenantId, toConfiguration(options.embedding));
  const budget = new JobBudget(deps.sql, job);
  // that of evaluators, which rules do not match: a rule for all projects would judge these calls
  const project = await ensureJudgeProject(deps.sql, tenantId, uuid7);
  const calling: Calling = { deps, job, budget, project, signal };
  const { scope } = await loadPopulation(deps, tenantId, job.project_id, options);
  /** Reads the stage anew, and what the stage before has stored. */
  const isAt = async (stage: Stage): Promise<boolean> => {
    signal.throwIfAborted();
    const row = await findJob(deps.sql, tenantId, job.project_id, job.id);
    if (!row) return false;
    Object.assign(job, { stage: row.stage, population: row.population, sampled: row.sampled });
    return row.stage === stage;
  };
  if (await isAt("sample")) {
    await sampleRuns(deps, job);
    await afterStage("sample", signal);
  }
  let stopped: StopJob | undefined;
  if (await isAt("embed")) {
    const price = await priceQuestion(deps, tenantId, names, NAME_CHARACTERS, NAME_TOKENS);
    budget.keep(BigInt(NAMES_KEPT) * (parseDecimal(price?.total ?? "0") ?? 0n));
    try {
      await embedRuns(calling, scope, { summaries, embedding });
    } catch (error) {
      if (!(error instanceof StopJob) || error.reason !== "budget") throw error;
      const { read } = await countRead(deps.sql, job);
      if (read < FEWEST) throw error;
      stopped = error;
    }
    budget.keep(0n);
    await afterStage("embed", signal);
  }
  const advances = stopped === undefined;
  if (stopped || (await isAt("cluster"))) {
    await clusterRuns(deps, job, scope, signal, advances);
    await afterStage("cluster", signal);
  }
  if (stopped || (await isAt("name"))) {
    try {
      await nameClusters(calling, scope, names, advances);
    } catch (error) {
      if (!(error instanceof StopJob) || error.reason !== "budget") throw error;
      stopped ??= error;
    }
    await afterStage("name", signal);
  }
  if (stopped || (await isAt("measure"))) {
    await measureClusters(deps, job, scope, advances && stopped === undefined);
    await afterStage("measure", signal);
  }
  if (stopped) throw stopped;
}
