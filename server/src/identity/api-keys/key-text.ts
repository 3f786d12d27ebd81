import { hash, randomBytes } from "node:crypto";

/** `personal`: a person's key. `service`: a program's key. */
export type KeyKind = "personal" | "service";

const PREFIX: Record<KeyKind, string> = { personal: "lsv2_pt_", service: "lsv2_sk_" };
const SECRET_BYTES = 32;
const CHECK_DIGITS = 10;
const FORMAT = /^(lsv2_(?:pt|sk)_[0-9a-f]{64})_([0-9a-f]{10})$/;

/**
 * Generates a key: `lsv2_sk_<64 hex digits>_<10 hex digits>`. The prefixes are those of LangSmith's keys,
 * followed by 256 random bits and the start of the SHA-256 of the preceding text. The check digits reject typing
 * errors, foreign keys and random text without a query. They add no secrecy.
 */
export function newKey(kind: KeyKind): string {
  const body = PREFIX[kind] + randomBytes(SECRET_BYTES).toString("hex");
  return `${body}_${checkDigits(body)}`;
}

/** Returns true if this could be a key of any Heddle installation. */
export function looksLikeKey(text: string): boolean {
  const [, body, digits] = FORMAT.exec(text) ?? [];
  return body !== undefined && checkDigits(body) === digits;
}

/**
 * Hashes a key for storage and lookup: SHA-256 in hex. Lookup by hash leaks timing about the hash of the sent text
 * only, which a client cannot choose digit by digit.
 */
export const hashKey = (key: string): string => hash("sha256", key, "hex");

/** Shortens a key to `lsv2_sk_1a2b...9f3c`: enough to recognize it, useless for authentication. */
export const shortKey = (key: string): string => `${key.slice(0, 12)}...${key.slice(-4)}`;

const checkDigits = (body: string): string => hash("sha256", body, "hex").slice(0, CHECK_DIGITS);
