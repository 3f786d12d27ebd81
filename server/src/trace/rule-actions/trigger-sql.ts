import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Rule } from "../rules/sql.ts";

/** Makes the rule's waiting threads due. */
export async function hurryThreads(tx: Transaction, tenantId: string, ruleId: string): Promise<void> {
  await tx`update rule_threads set due_at = now()
    where tenant_id = ${tenantId} and rule_id = ${ruleId} and due_at <> 'infinity'`;
}

/**
 * Returns from when on a triggered rule looks at runs: since it began, at most a day; undefined while an earlier
 * back-fill is still at work.
 */
export async function triggerStart(tx: Transaction, rule: Rule): Promise<string | undefined> {
  const [row] = await tx<{ at: string; busy: boolean }[]>`
    select to_char(greatest(r.active_from, now() - interval '1 day') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        as at,
      exists (select 1 from rule_backfills b where b.tenant_id = r.tenant_id and b.rule_id = r.rule_id
        and b.status in ('pending', 'running')) as busy
    from rules r where r.tenant_id = ${rule.tenant_id} and r.rule_id = ${rule.rule_id}`;
  return row === undefined || row.busy ? undefined : row.at;
}

export async function findDatasetRules(sql: Sql, tenantId: string, datasetId: string): Promise<string[]> {
  const rows = await sql<{ rule_id: string }[]>`
    select rule_id from rules where tenant_id = ${tenantId} and dataset_id = ${datasetId} and is_enabled
    order by rule_id limit 100`;
  return rows.map((row) => row.rule_id);
}
