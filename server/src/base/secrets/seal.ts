import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

import type { RingKey } from "./keyring.ts";

/** Owner of a secret: `{ purpose: "webhook", id: <the webhook's id> }`. */
export interface SecretRef {
  purpose: string;
  id: string;
}

/** Stored form. The value is encrypted with its own data key, and that key with one of the ring. */
export interface SealedSecret {
  key_id: string;
  wrapped_key: Buffer;
  ciphertext: Buffer;
}

/** A secret cannot be opened. Identifies it without revealing its value. */
export class SecretError extends Error {
  override name = "SecretError";
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals a value with envelope encryption (AES-256-GCM). Purpose and id are authenticated with both layers, so that a
 * ciphertext moved to another record does not open there.
 */
export function sealSecret(key: RingKey, ref: SecretRef, value: string): SealedSecret {
  const dataKey = createSecretKey(randomBytes(32));
  return {
    key_id: key.id,
    wrapped_key: wrap(key, ref, dataKey),
    ciphertext: encrypt(dataKey, Buffer.from(value, "utf8"), context("value", ref)),
  };
}

/** Opens a sealed secret. Throws SecretError when any part was altered. */
export function openSecret(key: RingKey, ref: SecretRef, sealed: SealedSecret): string {
  const dataKey = unwrap(key, ref, sealed.wrapped_key);
  return decrypt(dataKey, sealed.ciphertext, context("value", ref), ref).toString("utf8");
}

/** Rewraps a secret's data key with another key of the ring; the value is not touched. */
export function rewrapKey(from: RingKey, to: RingKey, ref: SecretRef, wrappedKey: Buffer): Buffer {
  return wrap(to, ref, unwrap(from, ref, wrappedKey));
}

const wrap = (key: RingKey, ref: SecretRef, dataKey: KeyObject): Buffer =>
  encrypt(key.wrapping, dataKey.export(), context(`key ${key.id}`, ref));

const unwrap = (key: RingKey, ref: SecretRef, wrapped: Buffer): KeyObject =>
  createSecretKey(decrypt(key.wrapping, wrapped, context(`key ${key.id}`, ref), ref));

/** Returns additional authenticated data; JSON, so that distinct contexts never collide. */
const context = (layer: string, { purpose, id }: SecretRef): Buffer =>
  Buffer.from(JSON.stringify(["heddle secret", VERSION, layer, purpose, id]));

/**
 * Returns version, nonce, tag and ciphertext. The nonce is random: a data key encrypts once, a ring key far below 2^32
 * times.
 */
function encrypt(key: KeyObject, plain: Buffer, aad: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body]);
}

function decrypt(key: KeyObject, sealed: Buffer, aad: Buffer, ref: SecretRef): Buffer {
  const start = 1 + NONCE_BYTES + TAG_BYTES;
  if (sealed.length < start || sealed[0] !== VERSION) throw damaged(ref);
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, start));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]);
  } catch {
    throw damaged(ref);
  }
}

const damaged = ({ purpose, id }: SecretRef): SecretError =>
  new SecretError(`the stored secret ${purpose} ${id} cannot be decrypted: it was altered or copied from another row`);
