/**
 * Identifies callers for rate limiting. Limits are checked before routing and authentication, so sent credentials must
 * not be trusted: with a new key or user per request a client would get a new bucket each time, and fill the memory
 * with them. Therefore
 *
 * - an unknown credential first costs one unit of the address' catch-all bucket, and only then is it authenticated. A
 *   valid one gets the unit back, so a valid key never uses up its address; an invalid one counts as anonymous. An
 *   address can thus try only as many keys as it could send anonymous requests.
 * - concurrent requests with the same unknown credential share one authentication.
 * - a valid credential is cached by its hash, and authenticated again after a minute without cost.
 * - `x-user-id` counts only with a valid credential (or on a server that requires none). A session determines its user
 *   itself, and the header is ignored.
 */
import { hash } from "node:crypto";

import type { Authenticator, Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import { singleValue } from "../../identity/credentials.ts";
import { CSRF_HEADER } from "../../identity/sign-in/session-cookie.ts";

export interface Caller {
  /** Bucket of the API key; null for a session, and for callers without a key on an open server. */
  key: string | null;
  /** User of a session. */
  sessionUser: string | null;
}

interface Known extends Caller {
  /** Expiry of the cache entry. */
  until: number;
}

/** Headers that identify a caller; others, such as the workspace, must not affect it. */
const CREDENTIAL_HEADERS = ["x-api-key", "authorization", "cookie", CSRF_HEADER] as const;

/** Means of authenticating a credential, and of charging an unknown one to its address. */
export interface AuthenticationAttempt {
  authenticator: Authenticator;
  method: string;
  ip: string;
  /** Takes one unit from the address; false when none is left. */
  spend(): boolean | Promise<boolean>;
  refund(): void | Promise<void>;
}

/** `caller` is null for anonymous requests. `spent`: this request was already counted as anonymous. */
export type Identified = { caller: Caller | null; spent: boolean } | "rejected";

export class Callers {
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Identified>>();
  readonly #capacity: number;
  readonly #now: () => number;

  constructor(capacity: number, now: () => number) {
    this.#capacity = capacity;
    this.#now = now;
  }

  /** Returns "rejected" when the credential is unknown and the address has no units left. */
  identify(headers: Headers, inquiry: AuthenticationAttempt): Identified | Promise<Identified> {
    const credential = credentialDigest(headers);
    if (credential === null) {
      // a user without a credential counts only on an open server
      return headers.has("x-user-id") ? anonymousUnlessOpen(headers, inquiry) : ANONYMOUS;
    }
    const known = this.#known.get(credential);
    if (known && known.until > this.#now()) return { caller: known, spent: false };
    const asking = this.#asking.get(credential);
    // the unit spent by the first request does not cover this one
    if (asking)
      return asking.then((identified) => (identified !== "rejected" && identified.caller ? identified : ANONYMOUS));
    const result = this.#ask(headers, inquiry, credential, known);
    this.#asking.set(credential, result);
    return result.finally(() => this.#asking.delete(credential));
  }

  async #ask(
    headers: Headers,
    inquiry: AuthenticationAttempt,
    credential: string,
    known: Known | undefined,
  ): Promise<Identified> {
    if (!known && !(await inquiry.spend())) return "rejected";
    const caller = await verify(headers, inquiry, credential);
    if (caller === "unsure") return known ? { caller: known, spent: false } : { caller: null, spent: true };
    this.#known.delete(credential);
    if (!caller) return { caller: null, spent: !known };
    if (this.#known.size >= this.#capacity) this.#known.delete(this.#known.keys().next().value!);
    const { key, sessionUser } = caller;
    this.#known.set(credential, { key, sessionUser, until: Math.ceil(this.#now()) + KNOWN_MS });
    if (!known) await inquiry.refund();
    return { caller, spent: false };
  }
}

const ANONYMOUS: Identified = { caller: null, spent: false };

async function anonymousUnlessOpen(headers: Headers, inquiry: AuthenticationAttempt): Promise<Identified> {
  const caller = await verify(headers, inquiry, null);
  return caller === "unsure" ? ANONYMOUS : { caller, spent: false };
}

const KNOWN_MS = 60_000;

const digest = (text: string): string => hash("sha256", text, "base64url");

/** Returns the key, from its own header or as a bearer token. Undefined when none was sent. */
export function readKey(headers: Headers): string | undefined {
  const key = singleValue(headers, "x-api-key");
  if (key) return key;
  const authorization = singleValue(headers, "authorization");
  return /^bearer\s+(\S+)\s*$/i.exec(authorization ?? "")?.[1] ?? authorization;
}

/** Returns null when no credential was sent. */
function credentialDigest(headers: Headers): string | null {
  const key = readKey(headers);
  if (key !== undefined) return keyBucket(key);
  const cookie = headers.get("cookie");
  // a session is identified by both parts
  return cookie ? digest(`${cookie}\0${headers.get(CSRF_HEADER) ?? ""}`) : null;
}

/** Authenticates a credential. Returns null if it is invalid, "unsure" if authentication failed. */
async function verify(
  headers: Headers,
  { authenticator, method, ip }: AuthenticationAttempt,
  credential: string | null,
): Promise<Caller | null | "unsure"> {
  const credentials = new Headers();
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) credentials.set(name, value);
  }
  let principal: Principal;
  try {
    principal = await authenticator.authenticate({
      headers: credentials,
      method,
      ip,
      path: "*",
      needsWorkspace: false,
    });
  } catch (error) {
    // only a definite rejection counts; other errors are reported by the route, if there is one
    return error instanceof AppError && (error.status === 401 || error.status === 403) ? null : "unsure";
  }
  const isSession = principal.actor.kind === "session";
  return { key: isSession ? null : credential, sessionUser: isSession ? (principal.actor.userId ?? "") : null };
}

/** Returns the user: the session's, else the one named by the header, else undefined. */
export const callerUser = (caller: Caller, headers: Headers): string | undefined =>
  caller.sessionUser ?? (headers.get("x-user-id")?.trim() || undefined);

export const userBucket = (user: string, address: string): string => `${digest(user)}@${address}`;

/** Hashes the key, so that none is kept in plain text. */
export const keyBucket = (key: string): string => digest(key.trim());
