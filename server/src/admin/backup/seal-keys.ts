import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";

import { z } from "zod";

/** Derivation of keys (RFC 7914) and its cost: 128 MB, half a second, which slows down guessing. */
export const KDF = { kdf: "scrypt", n: 2 ** 17, r: 8, p: 1 } as const;

/** Accepts that cost alone, because an archive must not choose what its reader spends. */
export const kdfSchema = z.object({
  kdf: z.literal(KDF.kdf),
  n: z.literal(KDF.n),
  r: z.literal(KDF.r),
  p: z.literal(KDF.p),
  salt: z.string(),
});

export const deriveKey = (passphrase: string, salt: Buffer): Buffer =>
  scryptSync(passphrase, salt, 32, { N: KDF.n, r: KDF.r, p: KDF.p, maxmem: 256 * 1024 * 1024 });

const sealedSchema = kdfSchema.extend({
  cipher: z.literal("aes-256-gcm"),
  iv: z.string(),
  tag: z.string(),
  content: z.string(),
});

/** Encrypts files, by their names, with a key that is derived from the passphrase. */
export function sealKeys(files: Record<string, string>, passphrase: string): Buffer {
  const [salt, iv] = [randomBytes(32), randomBytes(12)];
  const cipher = createCipheriv("aes-256-gcm", deriveKey(passphrase, salt), iv);
  const content = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()]);
  const sealed: z.infer<typeof sealedSchema> = {
    cipher: "aes-256-gcm",
    ...KDF,
    salt: salt.toString("base64"),
    iv: iv.toString("base64"),
    tag: cipher.getAuthTag().toString("base64"),
    content: content.toString("base64"),
  };
  return Buffer.from(`${JSON.stringify(sealed)}\n`);
}

/** @throws Error for another passphrase */
export function openKeys(sealed: Buffer, passphrase: string): Record<string, string> {
  const { salt, iv, tag, content } = sealedSchema.parse(JSON.parse(sealed.toString()));
  const bytes = (text: string) => Buffer.from(text, "base64");
  const decipher = createDecipheriv("aes-256-gcm", deriveKey(passphrase, bytes(salt)), bytes(iv), {
    authTagLength: 16,
  });
  decipher.setAuthTag(bytes(tag));
  try {
    const text = Buffer.concat([decipher.update(bytes(content)), decipher.final()]).toString();
    return z.record(z.string(), z.string()).parse(JSON.parse(text));
  } catch {
    throw new Error("The passphrase does not open the keys in this archive. Nothing was restored.");
  }
}
