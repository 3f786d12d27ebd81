import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { isUuid } from "../../base/ids.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";

const REF = { purpose: "registry-signing", id: "key" };

/** Issues tokens for one deployment's images. They are signed and not stored; deleting the deployment revokes them. */
export interface PushTokens {
  /** `expires`: seconds since 1970. */
  issue(deploymentId: string, expires: number): string;
  /** Returns the deployment of a token; null for an invalid or expired one. */
  read(token: string): string | null;
}

export async function openPushTokens(secrets: Secrets): Promise<PushTokens> {
  if ((await secrets.get(REF)) === null) {
    await secrets.put({ ...REF, workspaceId: null }, randomBytes(32).toString("base64"));
  }
  // read back, because another server may have stored its key first
  const key = Buffer.from((await secrets.get(REF))!, "base64");
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    issue(deploymentId, expires) {
      const text = `${deploymentId}.${expires}`;
      return `hdp_${text}.${sign(text)}`;
    },
    read(token) {
      const [head, expires, signature] = token.split(".");
      const deploymentId = head?.startsWith("hdp_") ? head.slice("hdp_".length) : "";
      if (!isUuid(deploymentId) || expires === undefined || signature === undefined) return null;
      const [expected, received] = [Buffer.from(sign(`${deploymentId}.${expires}`)), Buffer.from(signature)];
      if (received.length !== expected.length || !timingSafeEqual(received, expected)) return null;
      return Number(expires) * 1000 > Date.now() ? deploymentId : null;
    },
  };
}
