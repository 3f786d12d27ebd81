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
};

/**
 * Environment of graphs: their project's variables and the server's, without the platform's own secrets, which a graph
 * that prints or traces its environment would leak.
 */
export function hostEnvironment(project: Environment, server: Environment): Environment {
  const merged = { ...project, ...server };
  for (const { env, secret } of Object.values(SERVER_ONLY)) {
    if (secret) for (const name of env) delete merged[name];
  }
  return merged;
}
