import { setTimeout as sleep } from "node:timers/promises";

import { CUSTOM } from "../agent/encryption/key-wrapper.ts";
import { type OnProgress, type Reencrypted, reencryptState } from "../agent/encryption/reencrypt-state.ts";
import { lockStateKeys, rewrapStateKey, selectStateKeys } from "../agent/encryption/sql.ts";
import { StateKeys } from "../agent/encryption/state-keys.ts";
import { type CommandKeys, withCommandKeys } from "./encryption-keys.ts";
import type { Sql } from "../base/db/connect.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

type Environment = Record<string, string | undefined>;

/** How often the command looks whether a new data key may be used; servers read new ones every 20 s. */
const POLL_MS = 2000;

export interface EncryptionStatus {
  /**
   * Keys of the settings, and those that data keys need. `dataKeys`: how many data keys it encrypts; `replaced`: how many of
   * them an earlier key had encrypted.
   */
  keys: { id: string; given: boolean; newest: boolean; dataKeys: number; replaced: number }[];
}

/** Lists the keys of the settings and of the project's handlers, with the data keys that need each. */
export function encryptionStatus(location: DataLocation, env: Environment, config?: string): Promise<EncryptionStatus> {
  return withCommandKeys(env, config, ({ writer, all }) =>
    withDatabase(location, async ({ sql }) => {
      const rows = await selectStateKeys(sql);
      const ids = new Set([...all.map(({ id }) => id), ...rows.map((row) => row.wrapped_by)]);
      return {
        keys: [...ids].map((id) => {
          const own = rows.filter((row) => row.wrapped_by === id);
          return {
            id,
            given: id === CUSTOM || all.some((key) => key.id === id),
            newest: id === writer?.id,
            dataKeys: own.length,
            replaced: own.filter((row) => row.replaced).length,
          };
        }),
      };
    }),
  );
}

export interface Rotation {
  to: string;
  rewrapped: number;
  /** Data keys that need a key which is not given. */
  left: { id: string; dataKeys: number }[];
}

/**
 * Encrypts all data keys with the newest key of the settings, or with the handlers of the project whose langgraph.json is
 * given, in one transaction. Servers keep running, because they hold the data keys themselves.
 */
export function rotateEncryption(location: DataLocation, env: Environment, config?: string): Promise<Rotation> {
  return withCommandKeys(env, config, (keys) =>
    withDatabase(location, async ({ sql, log }) => {
      const done = await rewrapAll(sql, keys);
      const target = { to: done.to, rewrapped: String(done.rewrapped) };
      await recordCommand(sql, log, "heddle encryption rotate", target, { location });
      return done;
    }),
  );
}

async function rewrapAll(sql: Sql, { writer, all }: CommandKeys): Promise<Rotation> {
  if (!writer)
    throw new Error(
      "LANGGRAPH_AES_KEY is not set. Set it to the new key, and HEDDLE_OLD_AES_KEYS to the old; or name the " +
        "langgraph.json of a project with encryption handlers with --config.",
    );
  return sql.begin(async (tx) => {
    await lockStateKeys(tx);
    const others = (await selectStateKeys(tx)).filter((row) => row.wrapped_by !== writer.id);
    let rewrapped = 0;
    const left = new Map<string, number>();
    for (const row of others) {
      const from = all.find(({ id }) => id === row.wrapped_by);
      if (!from) {
        left.set(row.wrapped_by, (left.get(row.wrapped_by) ?? 0) + 1);
        continue;
      }
      const { key } = await from.unwrap(row.key_id, row.wrapped);
      const wrapped = await writer.wrap(row.key_id, key);
      await rewrapStateKey(tx, { key_id: row.key_id, wrapped_by: writer.id, wrapped });
      rewrapped += 1;
    }
    return { to: writer.id, rewrapped, left: [...left].map(([id, dataKeys]) => ({ id, dataKeys })) };
  });
}

export interface ReencryptOptions {
  /** langgraph.json of a project with encryption handlers. */
  config?: string | undefined;
  onProgress: OnProgress;
  /** Called when the command has created a data key, which servers do not know yet. */
  onWait(): void;
}

/**
 * {@link rotateEncryption}, and then encrypts all stored state that is in clear, or that a data key from before a rotation
 * encrypts. Servers may run, all with the newest key. It can end at any point, and be repeated.
 * @throws when nothing in the database is encrypted yet, or a key is missing
 */
export function reencrypt(
  location: DataLocation,
  env: Environment,
  { config, onProgress, onWait }: ReencryptOptions,
): Promise<Reencrypted> {
  return withCommandKeys(env, config, (given) =>
    withDatabase(location, async ({ sql, log }) => {
      const { to } = await rewrapAll(sql, given);
      if ((await selectStateKeys(sql)).length === 0)
        throw new Error(
          "No server of this database has encrypted anything. Stop all servers, start them with the key, and repeat " +
            "the command: a server without the key could not read what it encrypts.",
        );
      const { aes, custom } = given;
      const keys = new StateKeys({ log, aes, custom: () => custom, onKeys: () => {} });
      try {
        await keys.start(sql);
        if (!isFresh(keys)) onWait();
        while (!isFresh(keys)) {
          await sleep(POLL_MS);
          await keys.refresh();
        }
        const done = await reencryptState(
          sql,
          { cipher: keys.cipher!, fresh: keys.fresh, secrets: aes.secrets },
          onProgress,
        );
        const target = { to, rows: String(done.encrypted) };
        await recordCommand(sql, log, "heddle encryption reencrypt", target, { location });
        return done;
      } finally {
        keys.stop();
      }
    }),
  );
}

/** Whether the data key in use was created with the newest key. */
const isFresh = ({ keys, fresh }: StateKeys): boolean => typeof keys?.current === "string" && fresh.has(keys.current);
