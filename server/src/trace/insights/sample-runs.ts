import type { TraceDeps } from "../deps.ts";
import { countUnits, sampleUnits, type UnitRow } from "./clickhouse.ts";
import { StopJob } from "./budget.ts";
import { divideSample, loadPopulation, sampleSize } from "./population.ts";
import { type ClaimedJob, fence, setSample, setStage } from "./queue-sql.ts";
import { insertRuns, type SampledRun } from "./run-sql.ts";
import { MAX_SAMPLE } from "./schema.ts";

const BATCH = 1000;

/** Samples the job's runs and stores their places. @throws StopJob when there are none */
export async function sampleRuns(deps: TraceDeps, job: ClaimedJob): Promise<void> {
  const { options } = job;
  const { scope, population } = await loadPopulation(deps, job.tenant_id, job.project_id, options);
  const { clickhouse } = deps;
  const count = await countUnits(clickhouse, scope, population);
  const isOfFailures = options.subject === "failures";
  const wanted = sampleSize(options.sample, isOfFailures ? count.failed : count.all, MAX_SAMPLE);
  const sizes = isOfFailures ? { failed: Math.min(wanted, count.failed), others: 0 } : divideSample(wanted, count);
  if (sizes.failed + sizes.others === 0) {
    const what = isOfFailures ? "no run failed or got bad feedback" : "there are no runs";
    throw new StopJob("empty", `In this period ${what} that match. Choose another period or filter.`);
  }
  const take = (failed: boolean, limit: number): Promise<UnitRow[]> =>
    limit === 0 ? Promise.resolve([]) : sampleUnits(clickhouse, scope, population, { failed, limit });
  const failures = await take(true, sizes.failed);
  const others = await take(false, sizes.others);
  const runs = mix(weigh(failures, true, count.failed), weigh(others, false, count.all - count.failed));
  await deps.sql.begin(async (tx) => {
    await fence(tx, job);
    for (let at = 0; at < runs.length; at += BATCH) await insertRuns(tx, job, runs.slice(at, at + BATCH));
    const all = isOfFailures ? count.failed : count.all;
    await setSample(tx, job, { population: all, failed: count.failed, sampled: runs.length });
    await setStage(tx, job, "embed");
  });
}

type Unplaced = Omit<SampledRun, "place">;

const weigh = (rows: UnitRow[], failed: boolean, all: number): Unplaced[] =>
  rows.map(({ id, ...rest }) => ({ ...rest, run_id: id, failed, weight: all / rows.length }));

/** Mixes two lists evenly, so that every beginning of the sample is a smaller sample. */
function mix(a: Unplaced[], b: Unplaced[]): SampledRun[] {
  const at = (list: Unplaced[]) => list.map((run, i) => ({ run, at: (i + 0.5) / list.length }));
  return [...at(a), ...at(b)].toSorted((x, y) => x.at - y.at).map(({ run }, place) => ({ ...run, place }));
}
