import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../db/connect.ts";
import type { FaultPoint } from "../fault-point.ts";
import type { Keyring, RingKey } from "./keyring.ts";
import { rewrapKey, SecretError, type SecretRef } from "./seal.ts";
import { deleteUnusedKey, lockOtherSecrets, makeCurrent, selectKeys, updateWrappedKeys } from "./sql.ts";

export interface Rotation {
  rewrapped: number;
  /** Keys that no longer seal any secret. */
  freed: string[];
  /** Secrets that could not be opened; they are left unchanged. */
  damaged: SecretRef[];
}

const START: SecretRef = { purpose: "", id: "" };

/**
 * Makes `to` the key that all servers seal with, and rewraps every secret with it in batches, while the servers keep
 * running. Only wrapped data keys are written. May be killed at any point: the next call resumes.
 *
 * A server that has just read the current key may seal once more with the old one. Removing a key waits for that write
 * and then fails, and another pass follows, so that no secret remains under a freed key.
 */
export async function rotateSecrets(
  sql: Sql,
  keyring: Keyring,
  to: RingKey,
  options: {
    batch?: number;
    faultPoint?: FaultPoint;
    onProgress?: (rewrapped: number) => void;
    patienceMs?: number;
  } = {},
): Promise<Rotation> {
  const { batch = 200, faultPoint = () => {}, onProgress = () => {}, patienceMs = 60_000 } = options;
  await makeCurrent(sql, to);
  faultPoint("secrets-key-made-current");
  const deadline = performance.now() + patienceMs;
  let rewrapped = 0;
  for (;;) {
    const damaged: SecretRef[] = [];
    let after: SecretRef | null = START;
    while (after) {
      const from: SecretRef = after;
      const done = await sql.begin(async (tx) => {
        const found = await lockOtherSecrets(tx, to.id, from, batch);
        const moved = found.flatMap((secret) => {
          const wrapped_key = tryRewrap(keyring, to, secret);
          if (!wrapped_key) damaged.push({ purpose: secret.purpose, id: secret.id });
          return wrapped_key ? [{ ...secret, wrapped_key }] : [];
        });
        if (moved.length > 0) await updateWrappedKeys(tx, to.id, moved);
        return { moved: moved.length, last: found.length === batch ? found.at(-1)! : null };
      });
      rewrapped += done.moved;
      after = done.last;
      if (done.moved > 0) onProgress(rewrapped);
      faultPoint("secrets-batch-rewrapped");
    }
    const { freed, left } = await freeKeys(sql, to.id);
    if (left <= damaged.length) return { rewrapped, freed, damaged };
    if (performance.now() > deadline) {
      throw new SecretError(`${left} secrets stayed locked by other transactions; run this command again later`);
    }
    await sleep(50);
  }
}

function tryRewrap(keyring: Keyring, to: RingKey, secret: SecretRef & { key_id: string; wrapped_key: Buffer }) {
  const from = keyring.find(secret.key_id);
  if (!from) return null;
  try {
    return rewrapKey(from, to, secret, secret.wrapped_key);
  } catch (error) {
    if (error instanceof SecretError) return null;
    throw error;
  }
}

async function freeKeys(sql: Sql, current: string): Promise<{ freed: string[]; left: number }> {
  const freed: string[] = [];
  for (const { key_id } of await selectKeys(sql)) {
    if (key_id === current) continue;
    if (await sql.begin((tx) => deleteUnusedKey(tx, key_id))) freed.push(key_id);
  }
  const left = (await selectKeys(sql)).reduce((sum, key) => sum + (key.key_id === current ? 0 : key.secrets), 0);
  return { freed, left };
}
