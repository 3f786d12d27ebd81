/** Calls of a job to its models, with retries, within its budget. Contents of runs are not recorded in their traces. */
import { setTimeout as sleep } from "node:timers/promises";

import type { TraceDeps } from "../deps.ts";
import { systemPrincipal } from "../evaluators/system-principal.ts";
import { estimateTokens, priceCall } from "../models/budget.ts";
import { startCall } from "../models/call-model.ts";
import { embedTexts, priceEmbedding } from "../models/embed-texts.ts";
import type { ModelFailure } from "../models/model-error.ts";
import type { ReadyConnection } from "../models/resolve-connection.ts";
import { type Charged, type JobBudget, StopJob } from "./budget.ts";
import type { ClaimedJob } from "./queue-sql.ts";

const TIMEOUT_SECONDS = 120;
const TRIES = 5;
const LONGEST_WAIT_SECONDS = 60;

export interface Calling {
  deps: TraceDeps;
  job: ClaimedJob;
  budget: JobBudget;
  /** Project of the calls' runs. */
  project: { id: string; name: string };
  signal: AbortSignal;
}

type Outcome<T> = { ok: true; value: T } | { ok: false; failure: ModelFailure };

/** Retries failures that may pass. @throws StopJob for those that will not */
async function withRetries<T>(signal: AbortSignal, attempt: () => Promise<Outcome<T>>): Promise<T> {
  for (let n = 1; ; n++) {
    const outcome = await attempt();
    if (outcome.ok) return outcome.value;
    signal.throwIfAborted();
    const { kind, message, retry_after_seconds: after } = outcome.failure;
    const passes = ["rate_limit", "provider", "network", "timeout", "malformed"].includes(kind);
    if (!passes || n === TRIES) throw new StopJob("model", message);
    await sleep(1000 * Math.min(after ?? 2 ** (n - 1), LONGEST_WAIT_SECONDS), undefined, { signal });
  }
}

const metadataOf = (job: ClaimedJob) => ({ heddle_insights_job: job.id });

export function embed(
  { deps, job, budget, project, signal }: Calling,
  connection: ReadyConnection,
  texts: string[],
): Promise<Float32Array[]> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return withRetries(signal, async () => {
    const estimate = await priceEmbedding(deps, job.tenant_id, connection, characters);
    return budget.spend(estimate?.total, async (): Promise<Charged<Outcome<Float32Array[]>>> => {
      const order = {
        connection,
        texts,
        project,
        runName: "insights: embed",
        metadata: metadataOf(job),
        timeoutSeconds: TIMEOUT_SECONDS,
      };
      const result = await embedTexts(deps, systemPrincipal(job.tenant_id), order, signal);
      const { cost } = result;
      if (!result.ok) return { value: { ok: false, failure: result.failure }, cost, tokens: 0 };
      return { value: { ok: true, value: result.vectors }, cost, tokens: result.tokens };
    });
  });
}

export interface Question {
  name: string;
  system: string;
  content: string;
  schema: Record<string, unknown>;
  /** Tokens of an answer, for the estimate. */
  outputTokens: number;
}

export const priceQuestion = (
  deps: Pick<TraceDeps, "prices">,
  tenantId: string,
  connection: ReadyConnection,
  characters: number,
  outputTokens: number,
) =>
  priceCall(deps, tenantId, connection, {
    prompt_tokens: estimateTokens(characters),
    completion_tokens: outputTokens,
  });

/** Asks for an object that matches the schema. @returns undefined when the model gives none */
export function ask(
  { deps, job, budget, project, signal }: Calling,
  connection: ReadyConnection,
  { name, system, content, schema, outputTokens }: Question,
): Promise<unknown> {
  return withRetries(signal, async () => {
    const characters = system.length + content.length + JSON.stringify(schema).length;
    const estimate = await priceQuestion(deps, job.tenant_id, connection, characters, outputTokens);
    return budget.spend(estimate?.total, async (): Promise<Charged<Outcome<unknown>>> => {
      const order = {
        request: {
          connection,
          messages: [
            { role: "system" as const, content: system },
            { role: "user" as const, content },
          ],
          tools: [],
          responseSchema: schema,
        },
        project,
        runName: `insights: ${name}`,
        metadata: metadataOf(job),
        hidesContent: true,
        timeoutSeconds: TIMEOUT_SECONDS,
      };
      const { events } = await startCall(deps, systemPrincipal(job.tenant_id), order, signal);
      for await (const { type, data } of events) {
        if (type === "error") return { value: { ok: false, failure: data }, cost: null, tokens: 0 };
        if (type === "end") {
          const { answer, cost, usage } = data;
          const value = answer.structured_error === null ? answer.structured : undefined;
          return { value: { ok: true, value }, cost, tokens: usage?.total_tokens ?? 0 };
        }
      }
      throw new Error("a model call ended without a result");
    });
  });
}
