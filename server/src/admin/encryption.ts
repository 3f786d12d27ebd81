import { readAesKeys } from "../agent/encryption/aes-keys.ts";
import { CUSTOM } from "../agent/encryption/key-wrapper.ts";
import { lockStateKeys, selectStateKeys, updateWrapped } from "../agent/encryption/sql.ts";
import { agentOptions } from "../agent/settings.ts";
import { readOptions } from "../base/config/options.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

type Environment = Record<string, string | undefined>;

const readKeys = (env: Environment) => {
  const { aesKey, oldAesKeys } = agentOptions;
  const settings = readOptions({ aesKey, oldAesKeys }, env);
  return readAesKeys(settings.aesKey, settings.oldAesKeys);
};

export interface EncryptionStatus {
  /** Keys of the settings, and those that data keys need. `dataKeys`: how many data keys it encrypts. */
  keys: { id: string; given: boolean; newest: boolean; dataKeys: number }[];
}

/** Lists the keys of the settings and of the project's handlers, with the data keys that need each. */
export function encryptionStatus(location: DataLocation, env: Environment): Promise<EncryptionStatus> {
  const { newest, all } = readKeys(env);
  return withDatabase(location, async ({ sql }) => {
    const rows = await selectStateKeys(sql);
    const ids = new Set([...all.map(({ id }) => id), ...rows.map((row) => row.wrapped_by)]);
    return {
      keys: [...ids].map((id) => ({
        id,
        given: id === CUSTOM || all.some((key) => key.id === id),
        newest: id === newest?.id,
        dataKeys: rows.filter((row) => row.wrapped_by === id).length,
      })),
    };
  });
}

/**
 * Encrypts all data keys with the newest key of the settings, in one transaction: those of older keys of the settings.
 * Servers keep running, because they hold the data keys themselves.
 */
export function rotateEncryption(
  location: DataLocation,
  env: Environment,
): Promise<{ to: string; rewrapped: number; left: { id: string; dataKeys: number }[] }> {
  const { newest, all } = readKeys(env);
  if (!newest)
    throw new Error("LANGGRAPH_AES_KEY is not set. Set it to the new key, and HEDDLE_OLD_AES_KEYS to the old.");
  return withDatabase(location, async ({ sql, log }) => {
    const done = await sql.begin(async (tx) => {
      await lockStateKeys(tx);
      const others = (await selectStateKeys(tx)).filter((row) => row.wrapped_by !== newest.id);
      let rewrapped = 0;
      const left = new Map<string, number>();
      for (const row of others) {
        const from = all.find(({ id }) => id === row.wrapped_by);
        if (!from) {
          left.set(row.wrapped_by, (left.get(row.wrapped_by) ?? 0) + 1);
          continue;
        }
        const { key } = await from.unwrap(row.key_id, row.wrapped);
        const wrapped = await newest.wrap(row.key_id, key);
        await updateWrapped(tx, { key_id: row.key_id, wrapped_by: newest.id, wrapped });
        rewrapped += 1;
      }
      return { to: newest.id, rewrapped, left: [...left].map(([id, dataKeys]) => ({ id, dataKeys })) };
    });
    const target = { to: done.to, rewrapped: String(done.rewrapped) };
    await recordCommand(sql, log, "heddle encryption rotate", target, { location });
    return done;
  });
}
