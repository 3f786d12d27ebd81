/** Recognizes the platform's credentials in requests that are forwarded to tenants' code. */
import type { Authenticator } from "../base/auth/principal.ts";
import { AppError } from "../base/errors.ts";
import { looksLikeKey } from "./api-keys/key-text.ts";
import { DEVICE_COOKIES } from "./sign-in/device-cookie.ts";
import { FLOW_COOKIES } from "./sign-in/openid-flow-cookie.ts";
import { SESSION_COOKIES } from "./sign-in/session-cookie.ts";

/** Names of the cookies that the platform sets, with https and without. */
export const PLATFORM_COOKIES: ReadonlySet<string> = new Set([...SESSION_COOKIES, ...FLOW_COOKIES, ...DEVICE_COOKIES]);

const CREDENTIAL = /heddle_(?:session|csrf)_[0-9a-f]{64}|lsv2_(?:pt|sk)_[0-9a-f]{64}_[0-9a-f]{10}/g;

/** Finds session tokens and keys of any Heddle in a header's value, in whatever syntax. */
export const credentialsIn = (value: string): string[] => value.match(CREDENTIAL) ?? [];

/** Decides whether code of a workspace's deployment may see a credential. */
export type CredentialRule = (credential: string, workspaceId: string) => boolean | Promise<boolean>;

/**
 * Allows keys that a deployment verifies with the platform: those that may enter its workspace. Unknown keys belong to
 * another issuer and pass; session tokens never do, nor do known keys where no key is needed.
 */
export function createCredentialRule(authenticator: Authenticator, keysNeeded: boolean): CredentialRule {
  return async (credential, workspaceId) => {
    if (!looksLikeKey(credential)) return false;
    const headers = new Headers({ "x-api-key": credential, "x-tenant-id": workspaceId });
    try {
      const { actor, workspaceId: entered } = await authenticator.authenticate({ headers, method: "GET", ip: "" });
      return actor.kind === "local" || (keysNeeded && entered === workspaceId);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // 401: unknown, or revoked and therefore harmless. 403: known, but expired or of another workspace.
      if (error.status === 401) return keysNeeded;
      if (error.status === 403) return false;
      throw error;
    }
  };
}
