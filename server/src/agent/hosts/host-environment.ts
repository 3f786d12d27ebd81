import type { OptionSpec } from "../../base/config/options.ts";
import { secretsOptions } from "../../base/secrets/settings.ts";
import { identityOptions } from "../../identity/settings.ts";
import { agentOptions } from "../settings.ts";

type Environment = Record<string, string | undefined>;

const SERVER_ONLY: Record<string, Pick<OptionSpec<unknown>, "env" | "secret">> = {
  ...secretsOptions,
  ...identityOptions,
  tracingKey: agentOptions.tracingKey,
  webhookSigningKeys: agentOptions.webhookSigningKeys,
  aesKey: agentOptions.aesKey,
  oldAesKeys: agentOptions.oldAesKeys,
};

/** Addresses and passwords of the server's databases. A project may have variables of these names for its own. */
const OWN_DATABASES = ["DATABASE_URI", "HEDDLE_DEPLOYMENT_DATABASE_URI", "PGPASSWORD", "PGPASSFILE"];

/**
 * Environment of graphs: their project's variables and the server's, without the platform's own secrets, which a graph
 * that prints or traces its environment would leak.
 */
export function hostEnvironment(project: Environment, server: Environment): Environment {
  const merged = { ...project, ...server };
  for (const name of OWN_DATABASES) {
    if (project[name] === undefined || project[name] === server[name]) delete merged[name];
    else merged[name] = project[name];
  }
  for (const { env, secret } of Object.values(SERVER_ONLY)) {
    if (secret) for (const name of env) delete merged[name];
  }
  return merged;
}
