import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { z } from "zod";

import { deriveKey, KDF, kdfSchema } from "./seal-keys.ts";
import { ArchiveError } from "./tar.ts";

const macSchema = kdfSchema.extend({ mac: z.literal("hmac-sha256"), value: z.string() });

/**
 * Authenticates a manifest, and by its hashes the whole archive, with a key that is derived from the passphrase: an
 * archive that another party has written or changed is recognized.
 */
export function signManifest(manifest: Buffer, passphrase: string): Buffer {
  const salt = randomBytes(32);
  const value = createHmac("sha256", deriveKey(passphrase, salt)).update(manifest).digest("base64");
  const signed: z.infer<typeof macSchema> = { mac: "hmac-sha256", ...KDF, salt: salt.toString("base64"), value };
  return Buffer.from(`${JSON.stringify(signed)}\n`);
}

/** @throws ArchiveError for another passphrase, or a manifest that is not the one that was signed with it */
export function checkManifest(manifest: Buffer, signed: Buffer, passphrase: string): void {
  let expected: Buffer;
  let found: Buffer;
  try {
    const { salt, value } = macSchema.parse(JSON.parse(signed.toString()));
    expected = createHmac("sha256", deriveKey(passphrase, Buffer.from(salt, "base64")))
      .update(manifest)
      .digest();
    found = Buffer.from(value, "base64");
  } catch {
    throw new ArchiveError("The archive is damaged: its authentication code is not intact.");
  }
  if (found.length === expected.length && timingSafeEqual(found, expected)) return;
  throw new ArchiveError(
    "The passphrase does not authenticate this archive: the archive was written with another passphrase, or changed " +
      "since. Nothing was restored.",
  );
}
