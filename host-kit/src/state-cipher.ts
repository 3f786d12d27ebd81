/**
 * Encryption of stored state with data keys (AES-256-GCM). A data key is random and itself stored encrypted
 * (server/src/agent/encryption). A row of bytes is `key id | nonce | ciphertext | tag`, bound to its place in the table. In
 * JSON and text columns a value becomes the token `heddle.sealed.<key id>.<owner>.<nonce, ciphertext, tag>~`, which any
 * reader of the column replaces by the value. A token counts only with the id of a known key, which callers cannot guess, so text of
 * users that looks like one stays text.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";

import type { DataKeys } from "./host-protocol.ts";

/** A stored value cannot be decrypted. */
export class SealedStateError extends Error {
  override name = "SealedStateError";
}

export const TOKEN_START = "heddle.sealed.";
const TOKEN = /("?)heddle\.sealed\.([\w-]{22})\.([\w-]+)\.([\w-]+)~\1/g;
/** Owner of tokens that are copied between rows, with their thread. */
export const ANY_OWNER = "-";

const ID_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  id: Buffer;
  secret: KeyObject;
}

/** Encrypts values within JSON text: {@link StateCipher.sealJson}. */
export type JsonSealer = Pick<StateCipher, "sealJson">;

const WHOLE_TOKEN = new RegExp(`^${TOKEN.source}$`);

/** Returns the data key and the owner of a text that is one token, perhaps quoted as JSON. */
export function readToken(text: string): { keyId: string; owner: string } | undefined {
  const match = WHOLE_TOKEN.exec(text);
  return match ? { keyId: match[2]!, owner: match[3]! } : undefined;
}

export class StateCipher {
  readonly #keys = new Map<string, Key>();
  readonly #locked: Map<string, string>;
  readonly #current: Key | undefined;

  constructor({ keys, current, locked }: DataKeys) {
    for (const { id, key } of keys)
      this.#keys.set(id, {
        id: Buffer.from(id, "base64url"),
        secret: createSecretKey(Buffer.from(key, "base64")),
      });
    this.#locked = new Map(locked.map(({ id, reason }) => [id, reason]));
    this.#current = current === null ? undefined : this.#keys.get(current);
  }

  /** Whether new values are to be encrypted. */
  get encrypts(): boolean {
    return this.#current !== undefined;
  }

  /** @param repeatable whether the same bytes in the same place have the same ciphertext */
  seal(bytes: Uint8Array, place: string, repeatable = false): Buffer {
    const { id, secret } = this.#current!;
    return Buffer.concat([id, ...encrypt(secret, bytes, place, repeatable)]);
  }

  /** @throws SealedStateError */
  open(sealed: Uint8Array, place: string): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
    return this.#open(bytes.subarray(0, ID_BYTES).toString("base64url"), bytes.subarray(ID_BYTES), place);
  }

  /** Returns the token of a text; within JSON, of the text of a value. */
  sealText(text: string, owner = ANY_OWNER): string {
    const { id, secret } = this.#current!;
    const data = Buffer.concat(encrypt(secret, Buffer.from(text), owner, false));
    return `${TOKEN_START}${id.toString("base64url")}.${owner}.${data.toString("base64url")}~`;
  }

  /** Returns the token of the text of a JSON value, as JSON. `null` stays, because statements test for it. */
  sealJson(json: string, owner = ANY_OWNER): string {
    return json === "null" ? json : `"${this.sealText(json, owner)}"`;
  }

  /**
   * Replaces the tokens in a text by what they stand for.
   * @param onOwner called with the owner of each token that is bound to one
   * @throws SealedStateError
   */
  openText(text: string, onOwner: (owner: string) => void = () => {}): string {
    if (!text.includes(TOKEN_START)) return text;
    return text.replace(TOKEN, (token: string, _quote: string, id: string, owner: string, data: string) => {
      if (!this.#keys.has(id) && !this.#locked.has(id)) return token;
      if (owner !== ANY_OWNER) onOwner(owner);
      return this.#open(id, Buffer.from(data, "base64url"), owner).toString();
    });
  }

  #open(id: string, data: Buffer, place: string): Buffer {
    const key = this.#keys.get(id);
    if (!key)
      throw new SealedStateError(
        `Stored state is encrypted with the data key ${id.slice(0, 6)}…, ${this.#locked.get(id) ?? "which this server does not have. Data keys are in the table state_keys"}.`,
      );
    if (data.length < NONCE_BYTES + TAG_BYTES) throw altered(place);
    const decipher = createDecipheriv("aes-256-gcm", key.secret, data.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw altered(place);
    }
  }
}

const altered = (place: string): SealedStateError =>
  new SealedStateError(
    `A stored value (${place.replaceAll("\0", " ")}) cannot be decrypted: it was altered or copied from another row.`,
  );

/** @returns nonce, ciphertext and tag */
function encrypt(secret: KeyObject, bytes: Uint8Array, place: string, repeatable: boolean): Buffer[] {
  const nonce = repeatable
    ? createHmac("sha256", secret).update(`nonce\0${place}\0`).update(bytes).digest().subarray(0, NONCE_BYTES)
    : randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", secret, nonce);
  cipher.setAAD(Buffer.from(place));
  return [nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
}
