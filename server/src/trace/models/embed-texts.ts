/** A call that embeds texts: reserves its cost, is traced as a run of type `embedding`, and is accounted for. */
import type { Principal } from "../../base/auth/principal.ts";
import { unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { createStreamFetch } from "../../base/outbound/stream-fetch.ts";
import type { TraceDeps } from "../deps.ts";
import { ADAPTERS } from "./adapters.ts";
import { type Cost, estimateTokens, priceCall, reserve, settle } from "./budget.ts";
import { EMBEDDING_ADAPTERS, MAX_TEXTS } from "./embedding-adapters.ts";
import { guardHeaders } from "./guard-headers.ts";
import type { ModelConfiguration } from "./message-schema.ts";
import { describeFailure, IncompleteResponse, type ModelFailure, ProviderFailure } from "./model-error.ts";
import { isProviderId, PROVIDERS } from "./providers.ts";
import { type ReadyConnection, resolveConnection } from "./resolve-connection.ts";
import { findConnection } from "./sql.ts";
import { runWriter } from "./trace-call.ts";

export interface EmbeddingOrder {
  connection: ReadyConnection;
  /** 1 to 100 texts, none empty. */
  texts: string[];
  /** Name of the project of the run, or the id of an existing one. */
  project: { name: string } | { id: string };
  runName: string;
  metadata?: Record<string, unknown> | undefined;
  timeoutSeconds: number;
}

export type EmbeddingResult = { run_id: string; cost: Cost | null } & (
  | { ok: true; vectors: Float32Array[]; tokens: number }
  | { ok: false; failure: ModelFailure }
);

/** Waits of the transport in milliseconds, and bytes of a response. */
const LIMITS = { headersMs: 120_000, bodyMs: 60_000, maxBytes: 64 * 1024 * 1024 };
/** Seconds after a call's time limit for which its reservation counts. */
const GRACE_SECONDS = 60;
const MAX_DIMENSIONS = 8192;
const MAX_TOKENS = 100_000_000;

/**
 * Resolves the connection for embeddings: the named model, else the connection's, else the provider's first suggestion.
 * @throws as `resolveConnection`; 422 when the provider has no embeddings, or no model is named
 */
export async function resolveEmbedding(
  deps: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  { connection_id, provider, model }: Pick<ModelConfiguration, "connection_id" | "provider" | "model">,
): Promise<ReadyConnection> {
  const row = connection_id == null ? undefined : await findConnection(deps.sql, tenantId, connection_id);
  const id = row?.provider ?? provider;
  const known = id != null && isProviderId(id) ? PROVIDERS[id] : undefined;
  if (known && !known.supports.embeddings) {
    throw unprocessable(`embedding: ${known.name} has no embeddings. Use a connection to another provider.`);
  }
  const name = model ?? row?.embedding_model ?? known?.embeddingModels[0];
  if (known && name === undefined) {
    throw unprocessable("embedding.model: required, since the connection has no embedding_model");
  }
  return resolveConnection(deps, tenantId, { connection_id, provider, model: name, parameters: {} });
}

/** Returns the cost of embedding this number of characters; undefined without a price. */
export const priceEmbedding = (
  deps: Pick<TraceDeps, "prices">,
  tenantId: string,
  connection: ReadyConnection,
  characters: number,
): Promise<Cost | undefined> =>
  priceCall(deps, tenantId, connection, { prompt_tokens: estimateTokens(characters), completion_tokens: 0 });

/**
 * Embeds texts in one call. The texts themselves are not recorded in the run: their numbers and sizes are.
 * @throws 402 over the workspace's budget, 424 when the package is missing
 */
export async function embedTexts(
  deps: TraceDeps,
  principal: Principal,
  order: EmbeddingOrder,
  signal: AbortSignal,
): Promise<EmbeddingResult> {
  const { connection, texts, timeoutSeconds } = order;
  const create = EMBEDDING_ADAPTERS[connection.provider.id];
  if (!create) throw unprocessable(`embedding: ${connection.provider.name} has no embeddings`);
  if (texts.length === 0 || texts.length > MAX_TEXTS) throw unprocessable(`texts: must be 1 to ${MAX_TEXTS}`);
  const tenantId = principal.workspaceId;
  const inputCharacters = texts.reduce((sum, text) => sum + text.length, 0);
  const seconds = timeoutSeconds + GRACE_SECONDS;
  const reservation = await reserve(deps, tenantId, connection, { inputCharacters, seconds, outputTokens: 0 });
  const { project } = order;
  const projectId = "id" in project ? project.id : await deps.projects.ensureProject(tenantId, project.name);
  const run = { id: uuid7(), projectId };
  const write = runWriter(deps, principal);
  const started = performance.now();
  await write("post", startOf(order, run, inputCharacters));
  const overdue = AbortSignal.timeout(timeoutSeconds * 1000);
  const meter = { tokens: undefined as number | undefined };
  const { metrics } = deps.models;
  const provider = connection.provider.id;
  const settleCall = async (tokens: number): Promise<Cost | null> => {
    const usage = { prompt_tokens: tokens, completion_tokens: 0 };
    const cost = tokens === 0 ? undefined : await priceCall(deps, tenantId, connection, usage);
    await settle(deps, tenantId, reservation, { cost: cost?.total ?? "0", tokens });
    return cost ?? null;
  };
  const finish = (fields: object) => write("patch", { id: run.id, end_time: new Date().toISOString(), ...fields });
  try {
    const vectors = await request(deps, order, create, AbortSignal.any([signal, overdue]), meter);
    const tokens = meter.tokens ?? estimateTokens(inputCharacters);
    const cost = await settleCall(tokens);
    metrics.called({ provider, outcome: "success", seconds: (performance.now() - started) / 1000 });
    metrics.used(provider, { input: tokens, output: 0 });
    await finish({
      status: "success",
      outputs: {
        vectors: vectors.length,
        dimensions: vectors[0]!.length,
        ...(meter.tokens !== undefined && {
          usage_metadata: { input_tokens: tokens, output_tokens: 0, total_tokens: tokens },
        }),
      },
    });
    return { ok: true, run_id: run.id, cost, vectors, tokens };
  } catch (error) {
    const reason = signal.aborted ? "cancelled" : overdue.aborted ? "timeout" : undefined;
    const failure = describeFailure(error, {
      where: connection.label,
      values: Object.values(connection.secrets),
      reason,
    });
    // a response that was counted was also billed
    const cost = await settleCall(meter.tokens ?? 0);
    metrics.called({ provider, outcome: failure.kind, seconds: (performance.now() - started) / 1000 });
    await finish({ status: "error", error: `${failure.kind}: ${failure.message}` });
    return { ok: false, run_id: run.id, cost, failure };
  }
}

const startOf = (order: EmbeddingOrder, run: { id: string; projectId: string }, characters: number) => ({
  id: run.id,
  trace_id: run.id,
  name: order.runName,
  run_type: "embedding",
  session_id: run.projectId,
  start_time: new Date().toISOString(),
  inputs: { texts: order.texts.length, characters },
  extra: {
    metadata: {
      ...order.metadata,
      ls_provider: order.connection.provider.lsProvider,
      ls_model_name: order.connection.model,
      ls_model_type: "embedding",
    },
    invocation_params: { model: order.connection.model },
  },
});

async function request(
  { outbound }: Pick<TraceDeps, "outbound">,
  { connection, texts }: EmbeddingOrder,
  create: NonNullable<(typeof EMBEDDING_ADAPTERS)[keyof typeof EMBEDDING_ADAPTERS]>,
  signal: AbortSignal,
  meter: { tokens: number | undefined },
): Promise<Float32Array[]> {
  const { provider, settings, secrets, model } = connection;
  const ended = new AbortController();
  const guarded = createStreamFetch(outbound, {
    limits: LIMITS,
    signal: AbortSignal.any([signal, ended.signal]),
    origins: new Set([new URL(ADAPTERS[provider.id].baseUrl(settings)).origin]),
    filterHeaders: guardHeaders(Object.values(secrets)),
  });
  let failed: Response | undefined;
  // LangChain's classes drop the usage, so it is read from the response
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await guarded(input, init);
    if (!response.ok) {
      failed = response;
      return response;
    }
    const text = await response.text();
    const counted = countedTokens(text, response.headers);
    if (counted !== undefined) meter.tokens = Math.min((meter.tokens ?? 0) + counted, MAX_TOKENS);
    const { status, headers } = response;
    const plain = new Headers(headers);
    plain.delete("content-encoding");
    plain.delete("content-length");
    return new Response(text, { status, headers: plain });
  };
  try {
    const embeddings = await create({ model, parameters: {}, settings, secrets, fetch });
    const found = await embeddings.embedDocuments(texts);
    return checkVectors(found, texts.length);
  } catch (error) {
    throw failed ? new ProviderFailure(error, failed) : error;
  } finally {
    ended.abort(new Error("the call has ended"));
  }
}

const COUNTS = /"(?:prompt_tokens|prompt_eval_count|inputTextTokenCount)"\s*:\s*(\d{1,9})\b/;

/** Reads the count of input tokens that providers put at the beginning or the end of a response. */
function countedTokens(text: string, headers: Headers): number | undefined {
  const edges = text.length > 4096 ? `${text.slice(0, 2048)} ${text.slice(-2048)}` : text;
  const found = COUNTS.exec(edges)?.[1] ?? headers.get("x-amzn-bedrock-input-token-count");
  const count = Number(found ?? Number.NaN);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** @throws IncompleteResponse unless there is a vector for each text, all of one length and not zero */
function checkVectors(found: unknown, count: number): Float32Array[] {
  const bad = (what: string) => new IncompleteResponse(`the embeddings are not usable: ${what}`);
  if (!Array.isArray(found) || found.length !== count) throw bad(`expected ${count} vectors`);
  const [first] = found as unknown[];
  const length = Array.isArray(first) ? first.length : 0;
  if (length < 2 || length > MAX_DIMENSIONS) throw bad(`vectors must have 2 to ${MAX_DIMENSIONS} dimensions`);
  return (found as unknown[]).map((values) => {
    if (!Array.isArray(values) || values.length !== length) throw bad("vectors differ in length");
    const vector = Float32Array.from(values as number[]);
    let square = 0;
    for (const value of vector) square += value * value;
    if (!(square > 0) || !Number.isFinite(square)) throw bad("a vector is zero or not finite");
    return vector;
  });
}
