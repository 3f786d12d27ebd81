import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";

import { z } from "zod";

/** Memory of the derivation: 128 MB, half a second, which slows down guessing. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

const sealedSchema = z.object({
  cipher: z.literal("aes-256-gcm"),
  kdf: z.literal("scrypt"),
  n: z
    .number()
    .int()
    .max(2 ** 20),
  r: z.number().int().max(32),
  p: z.number().int().max(16),
  salt: z.string(),
  iv: z.string(),
  tag: z.string(),
  content: z.string(),
});

/** Encrypts files, by their names, with a key that is derived from the passphrase (RFC 7914). */
export function sealKeys(files: Record<string, string>, passphrase: string): Buffer {
  const [salt, iv] = [randomBytes(32), randomBytes(12)];
  const cipher = createCipheriv("aes-256-gcm", scryptSync(passphrase, salt, 32, COST), iv);
  const content = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()]);
  const sealed: z.infer<typeof sealedSchema> = {
    cipher: "aes-256-gcm",
    kdf: "scrypt",
    n: COST.N,
    r: COST.r,
    p: COST.p,
    salt: salt.toString("base64"),
    iv: iv.toString("base64"),
    tag: cipher.getAuthTag().toString("base64"),
    content: content.toString("base64"),
  };
  return Buffer.from(`${JSON.stringify(sealed)}\n`);
}

/** @throws Error for another passphrase */
export function openKeys(sealed: Buffer, passphrase: string): Record<string, string> {
  const { n, r, p, salt, iv, tag, content } = sealedSchema.parse(JSON.parse(sealed.toString()));
  const bytes = (text: string) => Buffer.from(text, "base64");
  const key = scryptSync(passphrase, bytes(salt), 32, { N: n, r, p, maxmem: 256 * n * r });
  const decipher = createDecipheriv("aes-256-gcm", key, bytes(iv), { authTagLength: 16 });
  decipher.setAuthTag(bytes(tag));
  try {
    const text = Buffer.concat([decipher.update(bytes(content)), decipher.final()]).toString();
    return z.record(z.string(), z.string()).parse(JSON.parse(text));
  } catch {
    throw new Error("The passphrase does not open the keys in this archive. Nothing was restored.");
  }
}
