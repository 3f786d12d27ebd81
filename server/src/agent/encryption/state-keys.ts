/**
 * The data keys of this server. All servers of a database share them: the first one creates a key, and a new one follows each
 * day, so that no key encrypts more values than AES-GCM allows with random nonces (2^32). A new key is used a minute
 * after its creation, when every server has read it.
 */
import { randomBytes } from "node:crypto";

import type { DataKeys } from "../../../../host-kit/src/host-protocol.ts";
import { StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import { ConfigError } from "../../base/config/options.ts";
import type { Sql } from "../../base/db/connect.ts";
import { coerceError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { AES_KEY, type AesKeys, OLD_AES_KEYS } from "./aes-keys.ts";
import { CUSTOM, type KeyWrapper } from "./key-wrapper.ts";
import { insertStateKey, lockStateKeys, selectStateKeys, type StateKeyRow, updateWrapped } from "./sql.ts";

const REFRESH_MS = 20_000;
const USED_AFTER_SECS = 60;
const REPLACED_AFTER_SECS = 86_400;

interface Options {
  log: Log;
  aes: AesKeys;
  /** The project's own handlers, which then encrypt new data keys. */
  custom: () => KeyWrapper | undefined;
  onKeys: (keys: DataKeys) => void;
}

/** Whether a data key was created with the key that encrypts new ones. */
const isOwn = (row: StateKeyRow, writer: KeyWrapper | undefined): boolean =>
  row.wrapped_by === writer?.id && !row.replaced;

export class StateKeys {
  readonly #o: Options;
  #fresh: ReadonlySet<string> = new Set();
  #sql: Sql | undefined;
  #opened = new Map<string, string>();
  #keys: DataKeys | undefined;
  #cipher: StateCipher | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#o = options;
  }

  /** Undefined while nothing in the database is encrypted or is to be. */
  get cipher(): StateCipher | undefined {
    return this.#cipher;
  }

  get keys(): DataKeys | undefined {
    return this.#keys;
  }

  /** Ids of the data keys that only the newest key has ever encrypted; they may be too young to be used. */
  get fresh(): ReadonlySet<string> {
    return this.#fresh;
  }

  /** Reads the keys again, as each server does every {@link REFRESH_MS}. @throws ConfigError as `start` */
  async refresh(): Promise<void> {
    const missing = await this.#refresh();
    if (missing.length > 0) throw new ConfigError(missing.join(" "));
  }

  /** Loads the keys, and creates the first one. @throws ConfigError that names the setting which lacks a key */
  async start(sql: Sql): Promise<void> {
    this.#sql = sql;
    await this.refresh();
    if (this.#keys === undefined) return;
    this.#timer = setInterval(() => {
      this.#refresh().then(
        (problems) => problems.forEach((problem) => this.#o.log.error(problem)),
        (error: unknown) => this.#o.log.warn({ err: error }, "could not read the data keys of stored state"),
      );
    }, REFRESH_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @returns why keys cannot be decrypted */
  async #refresh(): Promise<string[]> {
    const writer = this.#o.custom() ?? this.#o.aes.newest;
    let rows = await selectStateKeys(this.#sql!);
    const newest = rows.find((row) => isOwn(row, writer));
    if (writer && (!newest || newest.age > REPLACED_AFTER_SECS)) {
      await this.#create(writer);
      rows = await selectStateKeys(this.#sql!);
    }
    if (rows.length === 0) return [];
    const locked: DataKeys["locked"] = [];
    for (const row of rows) {
      if (this.#opened.has(row.key_id)) continue;
      const reason = await this.#open(row);
      if (reason) locked.push({ id: row.key_id, reason });
    }
    const opened = rows.filter((row) => this.#opened.has(row.key_id));
    const own = opened.filter((row) => isOwn(row, writer));
    this.#fresh = new Set(own.map((row) => row.key_id));
    // other servers do not have the newest key yet: until then the one before it, whatever encrypts that
    const known = (of: StateKeyRow[]) => of.find((row) => row.age >= USED_AFTER_SECS);
    const current = writer && (known(own) ?? known(opened) ?? own.at(-1));
    this.#set({ keys: [...this.#opened].map(([id, key]) => ({ id, key })), current: current?.key_id ?? null, locked });
    const reasons = [...new Set(locked.map(({ reason }) => reason))];
    return reasons.map((reason) => {
      const count = locked.filter((key) => key.reason === reason).length;
      return `${count} of the ${rows.length} data keys of this database's stored state cannot be decrypted: ${reason}.`;
    });
  }

  #set(keys: DataKeys): void {
    if (JSON.stringify(keys) === JSON.stringify(this.#keys)) return;
    this.#keys = keys;
    this.#cipher = new StateCipher(keys);
    this.#o.onKeys(keys);
  }

  async #create(writer: KeyWrapper): Promise<void> {
    await this.#sql!.begin(async (tx) => {
      await lockStateKeys(tx);
      const [newest] = (await selectStateKeys(tx)).filter((row) => isOwn(row, writer));
      if (newest && newest.age <= REPLACED_AFTER_SECS) return;
      const id = randomBytes(16).toString("base64url");
      const wrapped = await writer.wrap(id, randomBytes(32)).catch((error: unknown) => {
        throw new ConfigError(`A data key could not be encrypted: ${coerceError(error).message}`, { cause: error });
      });
      await insertStateKey(tx, { key_id: id, wrapped_by: writer.id, wrapped });
    });
  }

  /** @returns why the key cannot be decrypted */
  async #open(row: StateKeyRow): Promise<string | undefined> {
    const wrapper =
      row.wrapped_by === CUSTOM ? this.#o.custom() : this.#o.aes.all.find(({ id }) => id === row.wrapped_by);
    if (!wrapper) {
      return row.wrapped_by === CUSTOM
        ? 'they were encrypted by the handlers of "encryption" in langgraph.json, which is missing'
        : `they need the key ${row.wrapped_by}. Set it as ${AES_KEY} or, to decrypt only, add it to ${OLD_AES_KEYS}`;
    }
    try {
      const { key, replacement } = await wrapper.unwrap(row.key_id, row.wrapped);
      if (replacement) await updateWrapped(this.#sql!, { ...row, wrapped: replacement });
      if (key.length !== 32) throw new Error(`the result has ${key.length} bytes instead of 32`);
      this.#opened.set(row.key_id, key.toString("base64"));
      return undefined;
    } catch (error) {
      return `${row.wrapped_by === CUSTOM ? 'the handlers of "encryption" in langgraph.json' : row.wrapped_by} failed: ${coerceError(error).message}`;
    }
  }
}
