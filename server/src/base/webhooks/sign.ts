/** Signatures by Standard Webhooks 1.0: HMAC-SHA256 of `id.timestamp.body`, one per secret. */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

export type SigningKey = KeyObject;

/** Parses `whsec_<base64>` entries, separated by commas or blanks. Errors do not quote the value. */
export function readSigningKeys(text: string): SigningKey[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  return entries.map((entry, index) => {
    const encoded = entry.replace(/^whsec_/, "");
    const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, "base64") : Buffer.alloc(0);
    if (bytes.length >= 24 && bytes.length <= 64) return createSecretKey(bytes);
    throw new Error(`must contain secrets of 24 to 64 bytes in base64 after whsec_; entry ${index + 1} is not one`);
  });
}

/**
 * Headers of a signed message, with one signature per key, so that receivers can rotate theirs.
 * @param timestamp seconds since 1970
 */
export function signatureHeaders(
  keys: readonly SigningKey[],
  id: string,
  timestamp: number,
  body: string,
): Record<string, string> {
  const headers: Record<string, string> = { "webhook-id": id, "webhook-timestamp": String(timestamp) };
  if (keys.length === 0) return headers;
  const signed = `${id}.${timestamp}.${body}`;
  headers["webhook-signature"] = keys
    .map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`)
    .join(" ");
  return headers;
}
