import { readOptions } from "../base/config/options.ts";
import type { Sql } from "../base/db/connect.ts";
import { createFaultPoint } from "../base/fault-point.ts";
import type { Log } from "../base/log.ts";
import { defaultKeyFile, prependKey, readKeyFile, removeKey } from "../base/secrets/key-file.ts";
import { generateKey, type Keyring } from "../base/secrets/keyring.ts";
import { type Rotation, rotateSecrets } from "../base/secrets/rotate.ts";
import { openKeyring } from "../base/secrets/secrets.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import { deleteUnusedKey, type KeyRow, selectKeys } from "../base/secrets/sql.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

export type Environment = Record<string, string | undefined>;

export interface SecretsStatus {
  /** Source of the keys. */
  source: string;
  keys: { id: string; given: boolean; current: boolean; secrets: number }[];
}

/** Returns one line for a key file or HEDDLE_SECRETS_KEYS. */
export const generateSecretsKey = (): string => generateKey();

export function secretsStatus(location: DataLocation, env: Environment): Promise<SecretsStatus> {
  return withRing(location, env, async ({ keyring, known }) => {
    const others = keyring.ids.filter((id) => !known.some((key) => key.key_id === id));
    return {
      source: keyring.source,
      keys: [
        ...others.map((id) => ({ id, given: true, current: false, secrets: 0 })),
        ...known.map((key) => ({
          id: key.key_id,
          given: keyring.ids.includes(key.key_id),
          current: key.is_current,
          secrets: key.secrets,
        })),
      ],
    };
  });
}

/**
 * Reseals all secrets with another key: a new one, prepended to the key file, or the first of the keys from the
 * environment. An interrupted rotation is resumed with its key.
 */
export function rotate(
  location: DataLocation,
  env: Environment,
  onProgress: (count: number) => void,
): Promise<Rotation & { to: string }> {
  return withRing(location, env, async ({ sql, log, keyring, known, keyFile }) => {
    const current = known.find((key) => key.is_current);
    const unfinished = known.some((key) => !key.is_current && key.secrets > 0);
    const begun = current !== undefined && keyring.newest.id !== current.key_id;
    if (keyFile !== null && !unfinished && !begun) {
      const line = generateKey();
      prependKey(keyFile, line);
      // reload the file, whose new key is not in memory yet
      keyring.find(line.split(":")[0]!);
    } else if (keyFile === null && !unfinished && current?.key_id === keyring.newest.id) {
      throw new Error(
        "The first key of HEDDLE_SECRETS_KEYS is already the current one. Put a new key in front of it, for all " +
          "servers and for this command. To generate one: heddle secrets generate",
      );
    }
    const to = unfinished && !begun ? keyring.find(current!.key_id)! : keyring.newest;
    const faultPoint = createFaultPoint(env["HEDDLE_FAULT_POINTS"]);
    const rotation = await rotateSecrets(sql, keyring, to, { faultPoint, onProgress });
    await recordCommand(
      sql,
      log,
      "heddle secrets rotate",
      { to: to.id, rewrapped: String(rotation.rewrapped) },
      { keyring },
    );
    return { ...rotation, to: to.id };
  });
}

/**
 * Removes a key that seals no secret from the key file. With keys from the environment, only verifies that it is
 * unused.
 */
export function retireKey(
  location: DataLocation,
  env: Environment,
  id: string,
): Promise<{ removed: boolean; source: string }> {
  return withRing(location, env, async ({ sql, log, keyring, known, keyFile }) => {
    if (!keyring.ids.includes(id)) throw new Error(`There is no key ${id} in ${keyring.source}.`);
    const row = known.find((key) => key.key_id === id);
    if (row?.is_current || (keyring.newest.id === id && !row)) {
      throw new Error(`The key ${id} is the current key. Rotate first: heddle secrets rotate`);
    }
    if (!(await sql.begin((tx) => deleteUnusedKey(tx, id)))) {
      throw new Error(`${row?.secrets} secrets still use the key ${id}. Re-encrypt them first: heddle secrets rotate`);
    }
    if (keyFile !== null) removeKey(keyFile, id);
    await recordCommand(sql, log, "heddle secrets retire", { key: id }, { keyring });
    return { removed: keyFile !== null, source: keyring.source };
  });
}

interface Ring {
  sql: Sql;
  log: Log;
  keyring: Keyring;
  known: KeyRow[];
  /** Null when the keys come from the environment. */
  keyFile: string | null;
}

function withRing<T>(location: DataLocation, env: Environment, work: (ring: Ring) => Promise<T>): Promise<T> {
  const settings = readOptions(secretsOptions, env);
  return withDatabase(location, async ({ sql, log }) => {
    const known = await selectKeys(sql);
    const keyring = openKeyring(settings, location.dataDir, log, known);
    const path = settings.secretsKeyFile ?? defaultKeyFile(location.dataDir);
    const keyFile = settings.secretsKeys || readKeyFile(path) === null ? null : path;
    return work({ sql, log, keyring, known, keyFile });
  });
}
