/**
 * Summarizes and embeds the sample, a chunk after the other: when the budget ends, what is embedded is a smaller sample.
 * Each batch is stored before the next one begins, and no stored batch is paid for again.
 */
import type { RunScope } from "../runs/run-scope.ts";
import { MAX_TEXTS } from "../models/embedding-adapters.ts";
import type { ReadyConnection } from "../models/resolve-connection.ts";
import { ask, type Calling, embed } from "./call-models.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { readSummaries, summaryPrompt, summarySchema } from "./prompts.ts";
import { fence, setEmbedding, setStage } from "./queue-sql.ts";
import { readRunTexts } from "./read-run-texts.ts";
import { listUnread, setEmbeddings, setSummaries, type UnreadRun } from "./run-sql.ts";

/** Texts per call of the summarizing model, and tokens of a summary. */
export const SUMMARIES = 10;
export const SUMMARY_TOKENS = 60;
const CALLS = 4;
/** Batches of embeddings per chunk: 300 texts without summaries; with them, a chunk is one batch. */
const BATCHES = 3;

export interface ReadingModels {
  summaries: ReadyConnection;
  embedding: ReadyConnection;
}

export async function embedRuns(calling: Calling, scope: RunScope, models: ReadingModels): Promise<void> {
  const { deps, job, signal } = calling;
  const { summarize } = job.options;
  const size = summarize ? MAX_TEXTS : BATCHES * MAX_TEXTS;
  for (;;) {
    signal.throwIfAborted();
    const chunk = await listUnread(deps.sql, job, size);
    if (chunk.length === 0) break;
    const texts = await readRunTexts(deps, scope, job.options.subject, chunk);
    if (summarize) await summarizeChunk(calling, models.summaries, chunk, texts);
    await embedChunk(calling, models.embedding, chunk, texts);
  }
  await deps.sql.begin(async (tx) => {
    await fence(tx, job);
    await setStage(tx, job, "cluster");
  });
}

/** Replaces texts by summaries, those that are stored already too. */
async function summarizeChunk(
  calling: Calling,
  connection: ReadyConnection,
  chunk: readonly UnreadRun[],
  texts: Map<string, string>,
): Promise<void> {
  const { deps, job } = calling;
  const use = (id: string, summary: string) => {
    if (summary !== "" && texts.has(id)) texts.set(id, summary);
  };
  for (const { run_id, summary } of chunk) if (summary !== null) use(run_id, summary);
  const open = chunk.filter(({ run_id, summary }) => summary === null && texts.has(run_id));
  await inParallel(batches(open, SUMMARIES), CALLS, async (batch) => {
    const content = JSON.stringify(batch.map(({ run_id }, n) => ({ n, text: texts.get(run_id) })));
    const answer = await ask(calling, connection, {
      name: "summarize",
      system: summaryPrompt(job.options),
      content,
      schema: summarySchema,
      outputTokens: SUMMARY_TOKENS * batch.length,
    });
    const found = readSummaries(answer, batch.length);
    const summaries = batch.map(({ run_id }, n) => ({ run_id, summary: found.get(n) ?? "" }));
    await deps.sql.begin(async (tx) => {
      await fence(tx, job);
      await setSummaries(tx, job, summaries);
    });
    for (const { run_id, summary } of summaries) use(run_id, summary);
  });
}

async function embedChunk(
  calling: Calling,
  connection: ReadyConnection,
  chunk: readonly UnreadRun[],
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  const { deps, job } = calling;
  const store = (runs: { run_id: string; vector: Float32Array }[], dimensions?: number) =>
    deps.sql.begin(async (tx) => {
      await fence(tx, job);
      await setEmbeddings(tx, job, runs);
      if (dimensions !== undefined) await setEmbedding(tx, job, connection.model, dimensions);
    });
  const without = chunk.filter(({ run_id }) => !texts.has(run_id));
  if (without.length > 0) await store(without.map(({ run_id }) => ({ run_id, vector: new Float32Array() })));
  const open = chunk.filter(({ run_id }) => texts.has(run_id));
  await inParallel(batches(open, MAX_TEXTS), BATCHES, async (batch) => {
    const vectors = await embed(
      calling,
      connection,
      batch.map(({ run_id }) => texts.get(run_id)!),
    );
    const runs = batch.map(({ run_id }, i) => ({ run_id, vector: normalized(vectors[i]!) }));
    await store(runs, vectors[0]!.length);
  });
}

function normalized(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square);
  return vector.map((value) => value / length);
}

export function batches<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size));
}
