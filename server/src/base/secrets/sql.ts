import type { Sql, Transaction } from "../db/connect.ts";
import type { RingKey } from "./keyring.ts";
import type { SealedSecret, SecretRef } from "./seal.ts";

export interface KeyRow {
  key_id: string;
  check_value: Buffer;
  is_current: boolean;
  created_at: Date;
  /** Number of secrets sealed with it. */
  secrets: number;
}

export const selectKeys = (sql: Sql | Transaction): Promise<KeyRow[]> => sql<KeyRow[]>`
  select k.key_id, k.check_value, k.is_current, k.created_at,
    (select count(*)::int from secrets s where s.key_id = k.key_id) as secrets
  from secret_keys k order by k.created_at desc, k.key_id`;

/** Locks the current key; it cannot be removed before this transaction ends. */
export async function lockCurrentKey(tx: Transaction): Promise<Pick<KeyRow, "key_id" | "check_value"> | undefined> {
  const [row] = await tx<Pick<KeyRow, "key_id" | "check_value">[]>`
    select key_id, check_value from secret_keys where is_current for key share`;
  return row;
}

/** Makes this key the current one if there is none. */
export const insertFirstKey = (tx: Transaction, { id, checkValue }: RingKey) => tx`
  insert into secret_keys (key_id, check_value, is_current) values (${id}, ${checkValue}, true) on conflict do nothing`;

/** Deletes a key after waiting for concurrent seals. Returns false when secrets are still sealed with it. */
export async function deleteUnusedKey(sql: Sql | Transaction, keyId: string): Promise<boolean> {
  const [locked] = await sql`select 1 from secret_keys where key_id = ${keyId} for update`;
  if (!locked) return true;
  const deleted = await sql`
    delete from secret_keys k where key_id = ${keyId}
      and not exists (select 1 from secrets s where s.key_id = k.key_id)`;
  return deleted.count > 0;
}

/** Makes this key the current one: everything is sealed with it from then on. */
export const makeCurrent = (sql: Sql, { id, checkValue }: RingKey): Promise<unknown> =>
  sql.begin(async (tx) => {
    await tx`lock table secret_keys in share row exclusive mode`;
    await tx`update secret_keys set is_current = false where is_current and key_id <> ${id}`;
    await tx`
      insert into secret_keys (key_id, check_value, is_current) values (${id}, ${checkValue}, true)
      on conflict (key_id) do update set is_current = true`;
  });

export const upsertSecret = (
  tx: Transaction,
  ref: SecretRef & { workspaceId: string | null },
  { key_id, wrapped_key, ciphertext }: SealedSecret,
) => tx`
  insert into secrets (purpose, id, workspace_id, key_id, wrapped_key, ciphertext)
  values (${ref.purpose}, ${ref.id}, ${ref.workspaceId}, ${key_id}, ${wrapped_key}, ${ciphertext})
  on conflict (purpose, id) do update set workspace_id = excluded.workspace_id, key_id = excluded.key_id,
    wrapped_key = excluded.wrapped_key, ciphertext = excluded.ciphertext, updated_at = now()`;

export async function selectSecret(sql: Sql | Transaction, ref: SecretRef): Promise<SealedSecret | undefined> {
  const [row] = await sql<SealedSecret[]>`
    select key_id, wrapped_key, ciphertext from secrets where purpose = ${ref.purpose} and id = ${ref.id}`;
  return row;
}

export const deleteSecretRow = (sql: Sql | Transaction, { purpose, id }: SecretRef) =>
  sql`delete from secrets where purpose = ${purpose} and id = ${id}`;

export const deleteSecretRows = (sql: Sql | Transaction, workspaceId: string) =>
  sql`delete from secrets where workspace_id = ${workspaceId}`;

export interface WrappedKey extends SecretRef {
  key_id: string;
  wrapped_key: Buffer;
}

/**
 * Locks secrets after a position that are not sealed with the given key. Locked rows are skipped and left for a later
 * pass, because waiting for them could deadlock.
 */
export const lockOtherSecrets = (tx: Transaction, keyId: string, after: SecretRef, limit: number) => tx<WrappedKey[]>`
  select purpose, id, key_id, wrapped_key from secrets
  where key_id <> ${keyId} and (purpose, id) > (${after.purpose}, ${after.id})
  order by purpose, id limit ${limit} for update skip locked`;

export const updateWrappedKeys = (tx: Transaction, keyId: string, secrets: WrappedKey[]) => tx`
  update secrets s set key_id = ${keyId}, wrapped_key = decode(n.wrapped_key, 'hex')
  from unnest(${secrets.map((secret) => secret.purpose)}::text[], ${secrets.map((secret) => secret.id)}::text[],
    ${secrets.map((secret) => secret.wrapped_key.toString("hex"))}::text[]) as n (purpose, id, wrapped_key)
  where s.purpose = n.purpose and s.id = n.id`;
