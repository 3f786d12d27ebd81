import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { readSecrets } from "../workspace-secrets/change-secrets.ts";
import { ADAPTERS } from "./adapters.ts";
import { checkParameters } from "./check-settings.ts";
import { installCommand, isProviderId, type Provider, PROVIDERS } from "./providers.ts";
import { isInstalled } from "./load-package.ts";
import type { ModelConfiguration } from "./message-schema.ts";
import { type ConnectionRow, findConnection } from "./sql.ts";

/** All that a call needs of its connection. Holds secrets: never serialize it. */
export interface ReadyConnection {
  id: string | null;
  /** Name in messages: `the connection "Azure" (Azure OpenAI)`. */
  label: string;
  provider: Provider;
  model: string;
  parameters: Record<string, unknown>;
  settings: Record<string, string>;
  secrets: Record<string, string>;
}

/** Secrets that a request brings, by their keys, and whether the workspace's complete them. */
export interface RequestSecrets {
  values: Record<string, string>;
  fallsBack: boolean;
}

/**
 * Resolves the model of a call with the secrets of the workspace.
 * @throws 404 for an unknown connection; 422 for an invalid configuration; 424 when a package or a secret is missing
 */
export async function resolveConnection(
  deps: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  { connection_id: id, provider: named, model, parameters }: ModelConfiguration,
  given?: RequestSecrets,
): Promise<ReadyConnection> {
  const row = id == null ? undefined : await findConnection(deps.sql, tenantId, id);
  if (id != null && !row) throw notFound("Model connection not found");
  const providerId = row?.provider ?? named;
  if (providerId == null) throw unprocessable("model: names neither a connection_id nor a provider");
  if (!isProviderId(providerId)) {
    throw unprocessable(`model.provider: "${providerId}" is unknown. Known are: ${Object.keys(PROVIDERS).join(", ")}`);
  }
  if (row && named != null && named !== row.provider) {
    throw unprocessable(`model.provider: the connection "${row.name}" is one of ${row.provider}, not of ${named}`);
  }
  const provider = PROVIDERS[providerId];
  const name = model ?? row?.default_model;
  if (name == null || name === "")
    throw unprocessable("model.model: required, since the connection has no default model");
  const checked = checkParameters(provider, parameters);
  const settings = row?.settings ?? {};
  const missing = provider.settings.find((setting) => setting.required && settings[setting.name] === undefined);
  if (missing) {
    throw unprocessable(
      `model: ${provider.name} needs a connection with the setting "${missing.name}". Create one: POST /api/v1/models/connections`,
    );
  }
  const problem = packageProblem(provider);
  if (problem !== null) throw new AppError(424, problem);
  const secrets = await readOwnSecrets(deps, tenantId, provider, row?.secrets ?? {}, given);
  const label = row ? `the connection "${row.name}" (${provider.name})` : `the default connection to ${provider.name}`;
  return { id: row?.id ?? null, label, provider, model: name, parameters: checked, settings, secrets };
}

async function readOwnSecrets(
  deps: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  provider: Provider,
  named: Record<string, string>,
  given: RequestSecrets = { values: {}, fallsBack: true },
): Promise<Record<string, string>> {
  const keys = provider.secrets.map((secret) => ({ ...secret, key: named[secret.name] ?? secret.key }));
  const wanted = given.fallsBack ? keys.map(({ key }) => key) : [];
  const values = await readSecrets(deps, tenantId, wanted);
  for (const { key } of keys) if (Object.hasOwn(given.values, key)) values.set(key, given.values[key]!);
  const found: Record<string, string> = {};
  for (const { name, key, required } of keys) {
    const value = values.get(key);
    if (value !== undefined) found[name] = value;
    else if (required || named[name] !== undefined) throw new AppError(424, missingSecret(provider, key));
  }
  return found;
}

const missingSecret = (provider: Provider, key: string): string =>
  `${provider.name} needs the workspace secret ${key}, which is not set. Set it: POST /api/v1/workspaces/current/secrets`;

function packageProblem(provider: Provider): string | null {
  if (isInstalled(provider.package)) return null;
  const command = installCommand(provider.package);
  return `The package ${provider.package}, which calls ${provider.name}, is not installed. Install it beside Heddle: ${command}`;
}

/** Returns why a connection cannot be used; null when it can. */
export function connectionProblem(row: ConnectionRow, keys: ReadonlySet<string>): string | null {
  if (!isProviderId(row.provider)) return `The provider ${row.provider} is unknown.`;
  const provider = PROVIDERS[row.provider];
  const missing = provider.secrets
    .map((secret) => ({ ...secret, key: row.secrets[secret.name] ?? secret.key }))
    .find(({ key, name, required }) => (required || row.secrets[name] !== undefined) && !keys.has(key));
  if (missing) return missingSecret(provider, missing.key);
  return packageProblem(provider);
}

/** Returns the URL of the connection's API, without a slash at its end. */
export const apiUrl = ({ provider, settings }: Pick<ReadyConnection, "provider" | "settings">): string =>
  ADAPTERS[provider.id].baseUrl(settings).replace(/\/+$/, "");
