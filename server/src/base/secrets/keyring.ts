import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";

import { ConfigError } from "../config/options.ts";

/** Key-encryption key. `KeyObject`s print and serialize without their content. */
export interface RingKey {
  id: string;
  /** Wraps the data keys of records (AES-256). */
  wrapping: KeyObject;
  /** Stored beside the id, to detect another key of the same name. Reveals nothing of the key. */
  checkValue: Buffer;
  /** Derives a key for another purpose, which reveals nothing about this one (HKDF-SHA256, RFC 5869). */
  derive(purpose: string): KeyObject;
}

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_.-]{1,64}$/;

/** Configured keys, newest first. `reload` reads a key file again, because another process may have added a key. */
export class Keyring {
  /** Source of the keys, for messages: the variable or the file. */
  readonly source: string;
  readonly #reload: (() => string) | undefined;
  #keys: RingKey[];

  /** Parses the keys. Throws ConfigError, which identifies the entry but never quotes it. */
  constructor(text: string, source: string, reload?: () => string) {
    this.source = source;
    this.#reload = reload;
    this.#keys = readKeys(text, source);
  }

  /** First key of a database that holds no secrets yet. */
  get newest(): RingKey {
    return this.#keys[0]!;
  }

  get ids(): string[] {
    return this.#keys.map((key) => key.id);
  }

  find(id: string): RingKey | undefined {
    const known = this.#keys.find((key) => key.id === id);
    if (known || !this.#reload) return known;
    this.#keys = readKeys(this.#reload(), this.source);
    return this.#keys.find((key) => key.id === id);
  }
}

/** Generates a line for HEDDLE_SECRETS_KEYS or a key file. The id starts with the date, to show which key is older. */
export function generateKey(now = new Date()): string {
  const id = `${now.toISOString().slice(0, 10)}-${randomBytes(3).toString("hex")}`;
  return `${id}:${randomBytes(KEY_BYTES).toString("base64")}`;
}

function readKeys(text: string, source: string): RingKey[] {
  const entries = text
    .split("\n")
    .map((line) => line.replace(/#.*$/, ""))
    .join(",")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const keys = entries.map((entry, index) => readKey(entry, `${source}: entry ${index + 1}`));
  if (keys.length === 0) throw new ConfigError(`${source} contains no key. Generate one: heddle secrets generate`);
  const twice = keys.find((key, index) => keys.findIndex((other) => other.id === key.id) !== index);
  if (twice) throw new ConfigError(`${source} contains two keys with the id ${twice.id}`);
  return keys;
}

function readKey(entry: string, where: string): RingKey {
  const colon = entry.indexOf(":");
  const id = entry.slice(0, Math.max(colon, 0));
  if (!ID.test(id))
    throw new ConfigError(`${where} must have the form id:base64, with letters, digits, _ . - in the id`);
  const encoded = entry.slice(colon + 1);
  const bytes = /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) ? Buffer.from(encoded, "base64") : Buffer.alloc(0);
  if (bytes.length !== KEY_BYTES) {
    throw new ConfigError(
      `${where} (id ${id}) is not ${KEY_BYTES} bytes in base64. Generate one: heddle secrets generate`,
    );
  }
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", bytes, "", `heddle ${purpose}`, KEY_BYTES));
  return {
    id,
    wrapping: createSecretKey(derive("wrapping")),
    checkValue: derive("check").subarray(0, 16),
    derive: (purpose) => createSecretKey(derive(`derived ${purpose}`)),
  };
}
