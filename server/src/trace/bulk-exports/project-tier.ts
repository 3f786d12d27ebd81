import { findTiers } from "../project-records/sql.ts";
import type { ExportDeps } from "./attempt.ts";

/** Returns the tier of the project's runs that have none themselves. */
export async function projectTier(
  { sql, settings }: Pick<ExportDeps, "sql" | "settings">,
  of: { tenant_id: string; session_id: string },
): Promise<string> {
  const tiers = await findTiers(sql, of.tenant_id, [of.session_id]);
  return tiers.get(of.session_id)?.trace_tier ?? settings.traceTier;
}
