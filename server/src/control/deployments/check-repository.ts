import { AppError } from "../../base/errors.ts";
import type { SourceConfig } from "./schema.ts";
import { invalid, stateError } from "./validate.ts";
import type { ControlDeps } from "../deps.ts";
import { mayUse } from "../integrations/git-remote.ts";
import { findIntegration } from "../integrations/sql.ts";

/** Checks that the repository's address is permitted (422), and that the integration may access it (400). */
export async function checkRepository(
  deps: Pick<ControlDeps, "sql" | "git" | "settings">,
  tenantId: string,
  { repo_url: url, integration_id: id }: SourceConfig,
): Promise<void> {
  const loc = ["source_config", "repo_url"];
  if (url == null) throw invalid(loc, "is required for the source github");
  try {
    deps.git.check(url);
  } catch (error) {
    if (error instanceof AppError && error.status === 422) throw invalid(loc, error.message);
    throw error;
  }
  if (deps.settings.installation === "cloud" && !/^https:/i.test(url)) throw invalid(loc, "must be an https:// URL");
  if (id == null) return;
  const integration = await findIntegration(deps.sql, tenantId, id);
  if (!integration) {
    throw stateError(`Source configuration error: there is no integration with 'integration_id' ${id}.`);
  }
  if (!mayUse(integration, url)) {
    throw stateError(
      `Source configuration error: the integration '${integration.name}' covers only repositories under ` +
        `${integration.url}.`,
    );
  }
}
