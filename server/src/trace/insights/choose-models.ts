import { AppError } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { resolveEmbedding } from "../models/embed-texts.ts";
import type { ModelConfiguration } from "../models/message-schema.ts";
import { isProviderId, type ProviderId, PROVIDERS } from "../models/providers.ts";
import { connectionProblem, type ReadyConnection, resolveConnection } from "../models/resolve-connection.ts";
import { type ConnectionRow, listConnections } from "../models/sql.ts";
import { listSecretKeys } from "../workspace-secrets/sql.ts";
import type { ModelChoice } from "./options.ts";
import type { CreateBody } from "./schema.ts";

export interface ChosenModels {
  names: ReadyConnection;
  summaries: ReadyConnection;
  embedding: ReadyConnection;
}

/** Inexpensive models, where the request and the connection name none. */
const USUAL_MODELS: Partial<Record<ProviderId, string>> = {
  openai: "gpt-4o-mini",
  "openai-responses": "gpt-4o-mini",
  anthropic: "claude-haiku-4-5",
  "google-genai": "gemini-2.5-flash-lite",
  bedrock: "amazon.nova-lite-v1:0",
  mistral: "mistral-small-latest",
  ollama: "llama3.2",
};

const MAX_CONNECTIONS = 100;
const MAX_KEYS = 1000;

const NONE =
  "Insights need a model connection. Create one: POST /api/v1/models/connections, or store a provider's key as a workspace secret.";
const NO_EMBEDDINGS =
  "Insights need a model connection whose provider has embeddings, beside the one that names clusters. Create one " +
  "(POST /api/v1/models/connections), or name it in embedding_connection_id.";

interface Candidate {
  provider: ProviderId;
  row: ConnectionRow | undefined;
}

/**
 * Chooses the models of a job: those that the request names, else those of a connection that is ready.
 * @throws 424 without a connection that can be used; 404 and 422 as `resolveConnection`
 */
export async function chooseModels(deps: TraceDeps, tenantId: string, body: CreateBody): Promise<ChosenModels> {
  const candidates = await findCandidates(deps, tenantId);
  const chat = chooseChat(candidates, body);
  const model = (named: string | null | undefined) => {
    const id = chat.provider;
    const usual = candidates.find(({ row }) => row && row.id === chat.connection_id)?.row?.default_model;
    return named ?? usual ?? (id == null ? undefined : USUAL_MODELS[id as ProviderId]);
  };
  const names = await resolveConnection(deps, tenantId, { ...chat, model: model(body.cluster_model) });
  const summaries = await resolveConnection(deps, tenantId, { ...chat, model: model(body.summary_model) });
  const embedding = await resolveEmbedding(deps, tenantId, chooseEmbedding(candidates, names, body));
  return { names, summaries, embedding };
}

export const toChoice = (connection: ReadyConnection): ModelChoice => ({
  connection_id: connection.id,
  provider: connection.provider.id,
  model: connection.model,
});

/** Returns the connections that are ready, and providers whose key is a workspace secret. */
async function findCandidates({ sql }: Pick<TraceDeps, "sql">, tenantId: string): Promise<Candidate[]> {
  const keys = new Set((await listSecretKeys(sql, tenantId, MAX_KEYS)).map(({ key }) => key));
  const rows = await listConnections(sql, tenantId, MAX_CONNECTIONS);
  const ready = rows.filter((row) => connectionProblem(row, keys) === null);
  const named = ready.flatMap((row) => (isProviderId(row.provider) ? [{ provider: row.provider, row }] : []));
  const byKeys = Object.values(PROVIDERS).filter(
    ({ secrets, settings }) =>
      secrets.some(({ required }) => required) &&
      secrets.every(({ key, required }) => !required || keys.has(key)) &&
      settings.every(({ required }) => !required),
  );
  return [...named, ...byKeys.map(({ id }) => ({ provider: id, row: undefined }))];
}

type Chat = Pick<ModelConfiguration, "connection_id" | "provider" | "parameters">;

function chooseChat(candidates: Candidate[], { connection_id, model }: CreateBody): Chat {
  if (connection_id != null) {
    const provider = candidates.find(({ row }) => row?.id === connection_id)?.provider;
    return { connection_id, provider, parameters: {} };
  }
  const ofModel = candidates.find(({ provider }) => provider === model || provider === `${model}-responses`);
  const found = ofModel ?? candidates[0];
  if (!found) throw new AppError(424, NONE);
  return { connection_id: found.row?.id, provider: found.provider, parameters: {} };
}

function chooseEmbedding(candidates: Candidate[], names: ReadyConnection, body: CreateBody) {
  const model = body.embedding_model;
  if (body.embedding_connection_id != null) return { connection_id: body.embedding_connection_id, model };
  const canEmbed = ({ provider, row }: Candidate) =>
    PROVIDERS[provider].supports.embeddings &&
    (model != null || row?.embedding_model != null || PROVIDERS[provider].embeddingModels.length > 0);
  const same = candidates.find((each) =>
    names.id === null ? !each.row && each.provider === names.provider.id : each.row?.id === names.id,
  );
  const found = same && canEmbed(same) ? same : candidates.find(canEmbed);
  if (!found) throw new AppError(424, NO_EMBEDDINGS);
  return { connection_id: found.row?.id, provider: found.provider, model };
}
