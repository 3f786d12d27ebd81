import { AppError, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { describeFailure, ProviderError } from "./model-error.ts";
import { apiUrl, type ReadyConnection } from "./resolve-connection.ts";

const LIMITS = { maxBytes: 2 * 1024 * 1024, totalMs: 15_000 };
const MAX_MODELS = 1000;

/**
 * Lists the models that a connection's provider offers.
 * @throws 422 for a provider without such a list, 502 when it cannot be read
 */
export async function listModels(
  { outbound }: Pick<TraceDeps, "outbound">,
  connection: ReadyConnection,
): Promise<{ id: string }[]> {
  const { provider, secrets, label } = connection;
  if (!provider.supports.list_models) throw unprocessable(`${provider.name} offers no list of its models`);
  try {
    const { url, headers } = listRequest(connection);
    const response = await outbound.fetch(url, { headers, redirect: "error" }, LIMITS);
    const text = await response.text();
    if (!response.ok) throw new ProviderError(response.status, text, response.headers);
    const names = readNames(JSON.parse(text)).map((name) => name.replace(/^models\//, ""));
    return [...new Set(names)].toSorted().map((id) => ({ id }));
  } catch (error) {
    const { message, kind } = describeFailure(error, { where: label, values: Object.values(secrets) });
    // without the cause, whose text is the provider's and may quote the key
    throw new AppError(kind === "blocked" ? 422 : 502, message);
  }
}

function listRequest(connection: ReadyConnection): { url: string; headers: Record<string, string> } {
  const { provider, secrets } = connection;
  const base = apiUrl(connection);
  const key = secrets["api_key"];
  const bearer: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  switch (provider.id) {
    case "anthropic":
      return {
        url: `${base}/v1/models?limit=${MAX_MODELS}`,
        headers: { "x-api-key": key!, "anthropic-version": "2023-06-01" },
      };
    case "google-genai":
      return { url: `${base}/v1beta/models?pageSize=${MAX_MODELS}`, headers: { "x-goog-api-key": key! } };
    case "mistral":
      return { url: `${base}/v1/models`, headers: bearer };
    case "ollama":
      return { url: `${base}/api/tags`, headers: bearer };
    default:
      return { url: `${base}/models`, headers: bearer };
  }
}

/** Reads `{data: [{id}]}` or `{models: [{name}]}`. */
function readNames(answer: unknown): string[] {
  const { data, models } = (answer ?? {}) as { data?: unknown; models?: unknown };
  const list = Array.isArray(data) ? data : Array.isArray(models) ? models : undefined;
  if (!list) throw new SyntaxError("the response has no list of models");
  return list.slice(0, MAX_MODELS).flatMap((item: unknown) => {
    const { id, name } = (item ?? {}) as { id?: unknown; name?: unknown };
    const found = id ?? name;
    return typeof found === "string" && found.length <= 256 ? [found] : [];
  });
}
