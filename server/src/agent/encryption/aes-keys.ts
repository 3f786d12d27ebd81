import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

import { ConfigError } from "../../base/config/options.ts";
import type { KeyWrapper } from "./key-wrapper.ts";

export const AES_KEY = "LANGGRAPH_AES_KEY";
export const OLD_AES_KEYS = "HEDDLE_OLD_AES_KEYS";
const LENGTHS = [16, 24, 32];
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface AesKeys {
  /** Wraps new data keys; undefined: nothing new is encrypted. */
  newest: KeyWrapper | undefined;
  all: KeyWrapper[];
  /** The keys themselves, for what LangGraph's serializer encrypted with them. */
  secrets: Buffer[];
}

/**
 * Reads the keys of the settings. Their ids derive from the keys, so that no two servers can mean different keys by one id.
 * @param old older keys, separated by commas, which only decrypt
 * @throws ConfigError, which never quotes a key
 */
export function readAesKeys(newest: string | undefined, old: string | undefined): AesKeys {
  const first = newest ? wrapperOf(newest, AES_KEY) : undefined;
  const earlier = (old ?? "").split(",").filter((text) => text !== "");
  const others = earlier.map((text, i) => wrapperOf(text, `${OLD_AES_KEYS}: key ${i + 1}`));
  const secrets = [...(newest ? [newest] : []), ...earlier].map((text) => Buffer.from(text));
  return { newest: first, all: [...(first ? [first] : []), ...others], secrets };
}

function wrapperOf(text: string, where: string): KeyWrapper {
  const secret = Buffer.from(text, "utf8");
  if (!LENGTHS.includes(secret.length))
    throw new ConfigError(`${where} must be 16, 24 or 32 bytes long, and is ${secret.length}.`);
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync("sha256", secret, "", `heddle state ${purpose}`, bytes));
  const wrapping = derive("wrapping", 32);
  return {
    id: `aes:${derive("id", 8).toString("hex")}`,
    async wrap(keyId, key) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", wrapping, nonce).setAAD(Buffer.from(keyId));
      return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
    },
    async unwrap(keyId, wrapped) {
      const decipher = createDecipheriv("aes-256-gcm", wrapping, wrapped.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(keyId))
        .setAuthTag(wrapped.subarray(-TAG_BYTES));
      const key = Buffer.concat([decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return { key };
    },
  };
}
