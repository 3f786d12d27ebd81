import { notFound } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { findRule, insertBackfill, insertRuleCandidates } from "../rules/sql.ts";
import { hurryMatches } from "./match-sql.ts";
import { findDatasetRules, hurryThreads, triggerStart } from "./trigger-sql.ts";

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "ruleMatcher" | "ruleActor" | "ruleBackfills">;

const unknownRule = (id: string) => notFound(`Rule not found: ${id}`);

/**
 * Applies a rule at once: its threads need not be idle any longer, actions that wait for a retry are tried, and it looks
 * at the runs of the last day again, by a back-fill. Runs about which it has decided are left alone.
 * @throws 404 for an unknown rule
 */
export async function triggerRule(deps: Deps, tenantId: string, ruleId: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const rule = await findRule(tx, tenantId, ruleId, "lock");
    if (!rule) throw unknownRule(ruleId);
    await hurryThreads(tx, tenantId, ruleId);
    await hurryMatches(tx, tenantId, ruleId);
    const from = await triggerStart(tx, rule);
    if (from !== undefined) {
      await insertBackfill(tx, { tenant_id: tenantId, rule_id: ruleId, backfill_id: uuid7(), backfill_from: from });
    }
  });
  wake(deps);
}

/**
 * Lets a rule decide about these runs, also those from before it. Of a rule on threads: about the runs' threads.
 * @throws 404 for an unknown rule or run
 */
export async function triggerRuns(deps: Deps, tenantId: string, ruleId: string, runIds: string[]): Promise<void> {
  if (!(await findRule(deps.sql, tenantId, ruleId))) throw unknownRule(ruleId);
  const ids = [...new Set(runIds)];
  const keys = (await findRunKeys(deps.clickhouse, tenantId, ids)).filter((key) => !key.deleted);
  const known = new Set(keys.map((key) => key.id));
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw notFound(`Run not found: ${missing}`);
  await insertRuleCandidates(deps.sql, tenantId, ruleId, keys);
  wake(deps);
}

/** Triggers several rules, or the enabled rules of a dataset. @returns their ids. @throws 404 for an unknown rule */
export async function triggerRules(
  deps: Deps,
  tenantId: string,
  { rule_ids: named, dataset_id: datasetId }: { rule_ids?: string[] | null; dataset_id?: string | null },
): Promise<string[]> {
  const ofDataset = datasetId == null ? [] : await findDatasetRules(deps.sql, tenantId, datasetId);
  const ids = [...new Set([...(named ?? []), ...ofDataset])];
  for (const id of ids) {
    if (!(await findRule(deps.sql, tenantId, id))) throw unknownRule(id);
  }
  for (const id of ids) await triggerRule(deps, tenantId, id);
  return ids;
}

function wake({ ruleMatcher, ruleActor, ruleBackfills }: Deps): void {
  ruleBackfills.wake();
  ruleMatcher.wake();
  ruleActor.wake();
}
