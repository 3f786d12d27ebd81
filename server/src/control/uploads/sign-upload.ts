import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import type { Secrets } from "../../base/secrets/secrets.ts";

const REF = { purpose: "upload-signing", id: "key" };

/**
 * Signs upload URLs: path and expiry are signed with a key that all replicas share, so the URL is the
 * credential.
 */
export interface UploadSigner {
  /** `expires`: seconds since 1970. */
  sign(objectPath: string, expires: number): string;
  isValid(objectPath: string, expires: number, signature: string): boolean;
}

export async function openUploadSigner(secrets: Secrets): Promise<UploadSigner> {
  if ((await secrets.get(REF)) === null) {
    await secrets.put({ ...REF, workspaceId: null }, randomBytes(32).toString("base64"));
  }
  // read back, because another server may have stored its key first
  const key = Buffer.from((await secrets.get(REF))!, "base64");
  const sign = (objectPath: string, expires: number) =>
    createHmac("sha256", key).update(`${expires}\n${objectPath}`).digest("base64url");
  return {
    sign,
    isValid(objectPath, expires, signature) {
      const [expected, received] = [Buffer.from(sign(objectPath, expires)), Buffer.from(signature)];
      return received.length === expected.length && timingSafeEqual(received, expected) && expires * 1000 > Date.now();
    },
  };
}
