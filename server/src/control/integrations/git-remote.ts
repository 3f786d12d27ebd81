import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { BuildError } from "../builds/build-error.ts";
import type { SourceConfig } from "../deployments/schema.ts";
import type { GitRemote } from "../git/git-source.ts";
import { isOfHost } from "../git/repository.ts";
import { findIntegration, type IntegrationRow, tokenSecretKey } from "./sql.ts";

/**
 * Returns a deployment's repository with its integration's token. Throws BuildError when the integration no longer
 * exists.
 */
export async function findGitRemote(
  { sql, secrets }: { sql: Sql | Transaction; secrets: Secrets },
  tenantId: string,
  config: SourceConfig,
): Promise<GitRemote> {
  const repoUrl = config.repo_url;
  if (!repoUrl) throw new BuildError("The deployment has no repository.");
  if (config.integration_id == null) return { repoUrl, credentials: null };
  const integration = await findIntegration(sql, tenantId, config.integration_id);
  if (!integration) throw new BuildError("The integration of this deployment no longer exists.");
  if (!mayUse(integration, repoUrl))
    throw new BuildError(`The integration covers only repositories under ${integration.url}.`);
  const token = integration.has_token ? await secrets.get(tokenSecretKey(integration.id)) : null;
  return { repoUrl, credentials: token === null ? null : { username: integration.username, token } };
}

/** Whether the integration's token may be sent for this repository: only to the host that it is meant for. */
export const mayUse = (integration: Pick<IntegrationRow, "url">, repoUrl: string): boolean =>
  URL.canParse(repoUrl) && isOfHost(new URL(repoUrl), integration.url);
