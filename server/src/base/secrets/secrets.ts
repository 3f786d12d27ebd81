import type { Sql, Transaction } from "../db/connect.ts";
import { ConfigError } from "../config/options.ts";
import type { Log } from "../log.ts";
import { createKeyFile, defaultKeyFile, isExposed, readKeyFile } from "./key-file.ts";
import { Keyring, type RingKey } from "./keyring.ts";
import { openSecret, SecretError, sealSecret, type SecretRef } from "./seal.ts";
import {
  deleteSecretRow,
  deleteSecretRows,
  deleteUnusedKey,
  insertFirstKey,
  type KeyRow,
  lockCurrentKey,
  selectKeys,
  selectSecret,
  upsertSecret,
} from "./sql.ts";

/**
 * Secrets encrypted at rest, each by its purpose and a record's id. Slices keep no reference; the record's own id is
 * the key. Pass the transaction that writes the record to write both atomically.
 */
export interface Secrets {
  keyring: Keyring;
  /** Stores or replaces the value. */
  put(ref: SecretRef & { workspaceId: string | null }, value: string, tx?: Transaction): Promise<void>;
  /** Returns null when there is none; throws SecretError when it cannot be opened. */
  get(ref: SecretRef, tx?: Transaction): Promise<string | null>;
  delete(ref: SecretRef, tx?: Transaction): Promise<void>;
  /** Deletes all secrets of a workspace. */
  deleteOfWorkspace(workspaceId: string, tx?: Transaction): Promise<void>;
}

export interface SecretsOptions {
  sql: Sql;
  log: Log;
  dataDir: string;
  settings: { secretsKeys: string | undefined; secretsKeyFile: string | undefined };
}

/** Opens the secrets. Throws ConfigError, which ends the start, when a key of stored secrets is missing. */
export async function openSecrets({ sql, log, dataDir, settings }: SecretsOptions): Promise<Secrets> {
  const known = await selectKeys(sql);
  const keyring = openKeyring(settings, dataDir, log, known);
  rejectMissingKeys(keyring, known);
  const inTransaction = (tx: Transaction | undefined, work: (tx: Transaction) => Promise<void>): Promise<unknown> =>
    tx ? work(tx) : sql.begin(work);
  return {
    keyring,
    async put(ref, value, outer) {
      await inTransaction(outer, async (tx) => {
        const key = await currentKey(tx, keyring);
        await upsertSecret(tx, ref, sealSecret(key, ref, value));
      });
    },
    async get(ref, tx) {
      const sealed = await selectSecret(tx ?? sql, ref);
      if (!sealed) return null;
      const key = keyring.find(sealed.key_id);
      if (key) return openSecret(key, ref, sealed);
      throw new SecretError(
        `the secret ${ref.purpose} ${ref.id} is encrypted with the key ${sealed.key_id}, which is not in ` +
          `${keyring.source}`,
      );
    },
    async delete(ref, tx) {
      await deleteSecretRow(tx ?? sql, ref);
    },
    async deleteOfWorkspace(workspaceId, tx) {
      await deleteSecretRows(tx ?? sql, workspaceId);
    },
  };
}

/**
 * Loads keys from the environment, else from the file that it names, else from the data directory's file, created if
 * needed.
 */
export function openKeyring(
  settings: SecretsOptions["settings"],
  dataDir: string,
  log: Log,
  known: Pick<KeyRow, "key_id" | "secrets">[],
): Keyring {
  if (settings.secretsKeys) return new Keyring(settings.secretsKeys, "HEDDLE_SECRETS_KEYS");
  const path = settings.secretsKeyFile ?? defaultKeyFile(dataDir);
  let text = readKeyFile(path);
  if (text === null) {
    const needed = known.filter((key) => key.secrets > 0).map((key) => key.key_id);
    if (needed.length > 0) {
      throw new ConfigError(
        `The database holds secrets encrypted with the key ${needed.join(", ")}, but its key file ${path} does ` +
          "not exist. Restore the file, or set the key in HEDDLE_SECRETS_KEYS.",
      );
    }
    if (settings.secretsKeyFile) {
      throw new ConfigError(
        `The file ${path} (HEDDLE_SECRETS_KEY_FILE) does not exist. Create it: ` +
          `(umask 077; heddle secrets generate > ${path})`,
      );
    }
    text = createKeyFile(path);
  }
  if (isExposed(path)) log.warn({ path }, "users other than its owner can read the secrets key file");
  return new Keyring(text, path, () => readKeyFile(path) ?? "");
}

function rejectMissingKeys(keyring: Keyring, known: KeyRow[]): void {
  const used = known.filter((key) => key.secrets > 0);
  const missing = used.filter((key) => !keyring.find(key.key_id));
  if (missing.length > 0) {
    const list = missing.map((key) => `${key.key_id} (${key.secrets} secrets)`).join(", ");
    throw new ConfigError(
      `The database holds secrets encrypted with keys that are not in ${keyring.source}: ${list}. Add these ` +
        "keys: all servers of a database need the same ones.",
    );
  }
  const changed = used.find((key) => !isSameKey(keyring.find(key.key_id)!, key));
  if (changed) {
    throw new ConfigError(
      `The key ${changed.key_id} in ${keyring.source} differs from the key with this id that the database's ` +
        "secrets are encrypted with. Restore the original key, and use another id for a new one.",
    );
  }
}

const isSameKey = (key: RingKey, row: Pick<KeyRow, "check_value">): boolean => key.checkValue.equals(row.check_value);

/** Returns the key to seal with. The database determines it, because a rotation must reach all writers at once. */
async function currentKey(tx: Transaction, keyring: Keyring): Promise<RingKey> {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const row = await lockCurrentKey(tx);
    const key = row && keyring.find(row.key_id);
    if (row && key) {
      if (isSameKey(key, row)) return key;
      throw new SecretError(
        `the key ${key.id} in ${keyring.source} differs from the key that the other servers use under this id`,
      );
    }
    // a leftover key without secrets: replace it with ours
    if (row && !(await deleteUnusedKey(tx, row.key_id))) {
      throw new SecretError(
        `new secrets are encrypted with the key ${row.key_id}, which is not in ${keyring.source}: all servers ` +
          "of a database need the same keys",
      );
    }
    await insertFirstKey(tx, keyring.newest);
  }
  throw new SecretError("the current key keeps changing; try again later");
}
