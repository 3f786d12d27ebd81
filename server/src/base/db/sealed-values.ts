/**
 * Encrypted values in text and JSON columns. A pool with a cipher decrypts the tokens in its results, wherever a statement
 * has put them; statements encrypt what they write. Without a cipher nothing is looked at.
 */
import type postgres from "postgres";

import { unprocessable } from "../errors.ts";
import { SealedStateError, type StateCipher } from "../../../../host-kit/src/state-cipher.ts";

type Handle = postgres.Sql<Record<string, never>> | postgres.TransactionSql<Record<string, never>>;

/** Ciphers of pools and of their transactions, by the handle that a statement gets. */
const CIPHERS = new WeakMap<object, () => StateCipher | undefined>();

export function rememberCipher(sql: Handle, cipher: () => StateCipher | undefined): void {
  CIPHERS.set(sql, cipher);
}

export const cipherOf = (sql: Handle): StateCipher | undefined => CIPHERS.get(sql)?.();

/** Encrypts a parameter of a statement; without a cipher it stays as it is. */
export const sealed = <T extends string | null>(
  sql: Handle,
  text: T,
  seal: (cipher: StateCipher, text: string) => string,
): T => {
  const cipher = cipherOf(sql);
  return cipher?.encrypts && text !== null ? (seal(cipher, text) as T) : text;
};

/** @throws 422 where values are encrypted, so that none would be found */
export function refuseSearch(sql: Handle, field: string, values: string): void {
  if (!cipherOf(sql)?.encrypts) return;
  throw unprocessable(
    `${field}: ${values} are encrypted and cannot be searched. Search by metadata, namespace or ids.`,
  );
}

const TEXT = 25;
const JSON_TYPE = 114;
const JSONB = 3802;

/** Options of postgres.js that decrypt results. A row with a thread's id has no value that belongs to another thread. */
export function openingTypes(cipher: () => StateCipher | undefined) {
  // the columns of a row are parsed, and then the row, in one turn of the event loop
  let owners: string[] = [];
  const open = (text: string): string => {
    try {
      return cipher()?.openText(text, (owner) => owners.push(owner)) ?? text;
    } catch (error) {
      owners = [];
      throw error;
    }
  };
  const types = {
    openedText: { to: TEXT, from: [TEXT], serialize: String, parse: open },
    openedJson: {
      to: JSON_TYPE,
      from: [JSON_TYPE, JSONB],
      serialize: JSON.stringify,
      parse: (text: string): unknown => JSON.parse(open(text)),
    },
  };
  const from = <Row extends object>(row: Row): Row => {
    if (owners.length === 0) return row;
    const found = owners;
    owners = [];
    const id = (row as { thread_id?: unknown }).thread_id;
    if (typeof id === "string" && found.some((owner) => owner !== id))
      throw new SealedStateError(`Thread ${id} has an encrypted value of another thread: rows were exchanged.`);
    return row;
  };
  return { types, transform: { row: { from } } };
}
