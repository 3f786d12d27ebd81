import { hash, randomBytes } from "node:crypto";

/** `personal`: a person's, `service`: a program's. */
export type KeyKind = "personal" | "service";

const PREFIX: Record<KeyKind, string> = { personal: "lsv2_pt_", service: "lsv2_sk_" };
const SECRET_BYTES = 32;
const CHECK_DIGITS = 10;
const FORMAT = /^(lsv2_(?:pt|sk)_[0-9a-f]{64})_([0-9a-f]{10})$/;

/**
 * `lsv2_sk_<64 hex digits>_<10 hex digits>`: the prefixes of contract trace-platform §6, 256 random bits, and the
 * beginning of the SHA-256 of what stands before. A typing error, a foreign key or random text is told from
 * ours without asking the database; whoever makes up the check digits too has still guessed nothing.
 */
export function newKey(kind: KeyKind): string {
  const body = PREFIX[kind] + randomBytes(SECRET_BYTES).toString("hex");
  return `${body}_${checkDigits(body)}`;
}

/** Whether this could be a key of some Heddle. */
export function looksLikeKey(text: string): boolean {
  const [, body, digits] = FORMAT.exec(text) ?? [];
  return body !== undefined && checkDigits(body) === digits;
}

/**
 * What is stored of a key, and looked up by: SHA-256 as hex digits. The look-up is by hash, so how long it takes
 * tells about hashes of what was sent only, and nobody can choose those digit by digit.
 */
export const hashKey = (key: string): string => hash("sha256", key, "hex");

/** `lsv2_sk_1a2b...9f3c`: enough to tell one's keys apart, useless to get in. */
export const shortKey = (key: string): string => `${key.slice(0, 12)}...${key.slice(-4)}`;

const checkDigits = (body: string): string => hash("sha256", body, "hex").slice(0, CHECK_DIGITS);
