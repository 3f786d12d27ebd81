import type { TraceDeps } from "../deps.ts";
import { estimateTokens } from "../models/budget.ts";
import { priceEmbedding } from "../models/embed-texts.ts";
import type { ReadyConnection } from "../models/resolve-connection.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { priceQuestion } from "./call-models.ts";
import { countUnits, sampleUnits } from "./clickhouse.ts";
import { planJob } from "./create-job.ts";
import { SUMMARIES, SUMMARY_TOKENS } from "./embed-runs.ts";
import { NAME_CHARACTERS, NAME_TOKENS } from "./name-clusters.ts";
import { loadPopulation, sampleSize } from "./population.ts";
import { readRunTexts } from "./read-run-texts.ts";
import { type CreateBody, MAX_SAMPLE } from "./schema.ts";

/** Runs whose texts are measured. */
const LOOKED_AT = 50;
const SUMMARY_INSTRUCTIONS = 800;
/** Length of a summary in characters. */
const SUMMARY_LENGTH = 160;

/** Estimates what a job would read and cost, without starting it. */
export async function estimateJob(deps: TraceDeps, tenantId: string, projectId: string, body: CreateBody) {
  const { options, models } = await planJob(deps, tenantId, projectId, body);
  const { scope, population } = await loadPopulation(deps, tenantId, projectId, options);
  const count = await countUnits(deps.clickhouse, scope, population);
  const isOfFailures = options.subject === "failures";
  const all = isOfFailures ? count.failed : count.all;
  const sample = Math.min(all, sampleSize(options.sample, all, MAX_SAMPLE));
  const looked =
    all === 0 ? [] : await sampleUnits(deps.clickhouse, scope, population, { failed: isOfFailures, limit: LOOKED_AT });
  const runs = looked.map(({ id, ...rest }, place) => ({
    ...rest,
    run_id: id,
    place,
    failed: isOfFailures,
    weight: 1,
  }));
  const texts = [...(await readRunTexts(deps, scope, options.subject, runs)).values()];
  const length = texts.length === 0 ? 0 : texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
  const clusters = sample === 0 ? 0 : Math.min(20, Math.max(1, Math.round(Math.sqrt(sample))));

  const embedded = Math.round(sample * (options.summarize ? SUMMARY_LENGTH : length));
  const embedding = {
    ...nameOf(models.embedding),
    tokens: estimateTokens(embedded),
    cost_usd: (await priceEmbedding(deps, tenantId, models.embedding, embedded))?.total ?? null,
  };
  const chat = async (connection: ReadyConnection, calls: number, characters: number, output: number) => ({
    ...nameOf(connection),
    calls,
    tokens: calls * (estimateTokens(characters) + output),
    cost_usd: times(await priceQuestion(deps, tenantId, connection, Math.round(characters), output), calls),
  });
  const perCall = SUMMARY_INSTRUCTIONS + SUMMARIES * length;
  const calls = options.summarize ? Math.ceil(sample / SUMMARIES) : 0;
  const summaries = await chat(models.summaries, calls, perCall, SUMMARIES * SUMMARY_TOKENS);
  const names = await chat(models.names, clusters, NAME_CHARACTERS, NAME_TOKENS);
  const parts = [embedding.cost_usd, summaries.cost_usd, names.cost_usd];
  return {
    population: count.all,
    population_failed: count.failed,
    sample,
    embedding,
    summaries,
    names,
    cost_usd: parts.includes(null)
      ? null
      : formatDecimal(parts.reduce((sum, part) => sum + (parseDecimal(part) ?? 0n), 0n)),
  };
}

const nameOf = ({ provider, model }: ReadyConnection) => ({ provider: provider.id, model });

const times = (cost: { total: string } | undefined, calls: number): string | null => {
  if (calls === 0) return "0";
  return cost ? formatDecimal((parseDecimal(cost.total) ?? 0n) * BigInt(calls)) : null;
};
