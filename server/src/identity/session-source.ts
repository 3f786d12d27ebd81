/** People's sessions, as the authenticator asks for them and identity/sign-in keeps them. */
export interface SessionSource {
  /** Reads the token of a browser's session from its cookie and the header `x-heddle-csrf`, if both are there. */
  readBrowserSession(headers: Headers): string | undefined;
  /** Throws 403 when a request with a cookie may come from another site's page. */
  refuseForgery(method: string, headers: Headers): void;
  /** By the SHA-256 of its token, as hex digits. Undefined when unknown, ended or expired. */
  find(tokenHash: string): Promise<{ id: string; userId: string; expiresAt: Date } | undefined>;
}
