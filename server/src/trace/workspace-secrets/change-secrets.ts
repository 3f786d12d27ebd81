import { unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { MAX_SECRETS, type SecretUpsert } from "./schema.ts";
import * as rows from "./sql.ts";

const PURPOSE = "workspace-secret";

/** Stores and deletes secrets, all or none. Throws 422 when the workspace would have too many. */
export async function changeSecrets(
  { sql, secrets }: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  changes: SecretUpsert[],
): Promise<void> {
  await sql.begin(async (tx) => {
    await rows.lockSecrets(tx, tenantId);
    for (const { key, value } of changes) {
      if (value === null) {
        const id = await rows.deleteSecret(tx, tenantId, key);
        if (id !== undefined) await secrets.delete({ purpose: PURPOSE, id }, tx);
      } else {
        const id = await rows.ensureSecret(tx, tenantId, key, uuid7());
        await secrets.put({ purpose: PURPOSE, id, workspaceId: tenantId }, value, tx);
      }
    }
    const kept = await rows.listSecretKeys(tx, tenantId, MAX_SECRETS + 1);
    if (kept.length > MAX_SECRETS) throw unprocessable(`A workspace can have at most ${MAX_SECRETS} secrets.`);
  });
}

/** Reads the values of secrets by key; unknown keys are missing. */
export async function readSecrets(
  { sql, secrets }: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  keys: string[],
): Promise<Map<string, string>> {
  const found = await rows.findSecrets(sql, tenantId, keys);
  const values = await Promise.all(found.map(({ id }) => secrets.get({ purpose: PURPOSE, id })));
  return new Map(found.flatMap(({ key }, i) => (values[i] === null ? [] : [[key, values[i]!] as const])));
}
