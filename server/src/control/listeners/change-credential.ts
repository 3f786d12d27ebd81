import type { Principal } from "../../base/auth/principal.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { issueOwnKey } from "../../identity/api-keys/issue-key.ts";
import { revokeKey } from "../../identity/api-keys/sql.ts";
import { type ListenerRow, setCredential } from "./sql.ts";

type Owned = Pick<ListenerRow, "id" | "compute_id" | "key_id">;

/** Issues the credential of a listener, which replaces an earlier one at once. @returns its text, which is not stored */
export async function issueCredential(tx: Transaction, principal: Principal, listener: Owned): Promise<string> {
  await revokeCredential(tx, principal, listener);
  const { id, key } = await issueOwnKey(tx, principal, `Listener ${listener.compute_id}`);
  await setCredential(tx, listener.id, id);
  return key;
}

export async function revokeCredential(tx: Transaction, principal: Principal, listener: Owned): Promise<void> {
  if (listener.key_id === null) return;
  await revokeKey(tx, listener.key_id, { organizationId: principal.organizationId });
  await setCredential(tx, listener.id, null);
}
