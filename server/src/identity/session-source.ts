/** People's sessions: interface between the authenticator and identity/sign-in. */
export interface SessionSource {
  /** Reads the token of a browser's session from its cookie and the header `x-heddle-csrf`; undefined without both. */
  readBrowserSession(headers: Headers): string | undefined;
  /** Throws 403 when a request with a cookie may come from another site's page. */
  rejectForgery(method: string, headers: Headers): void;
  /** Finds a session by the SHA-256 of its token in hexadecimal. Undefined when unknown, ended or expired. */
  find(tokenHash: string): Promise<{ id: string; userId: string; expiresAt: Date } | undefined>;
}
