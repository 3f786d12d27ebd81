/**
 * Whose request it is, as far as limits are concerned. They are checked before a route is found and before it asks
 * who is there, so this must not believe what is sent: whoever made up a new key or user for every request would have
 * a new bucket for every request, and fill the memory with them. Therefore
 *
 * - a credential that is not known yet first costs one from the address' catch-all bucket, and only then is the
 *   authenticator asked about it. One that is good gets it back, so a good key never uses up its address; one that
 *   is not counts as nobody's. So an address can try as many keys as it could send requests without any.
 * - requests that come with the same unknown credential meanwhile wait for the same answer.
 * - a good credential is remembered, by its hash, and asked about again after a minute without a price.
 * - `x-user-id` counts only beside a good credential (or on a server that wants none). A session says itself who its
 *   user is, and the header is not looked at.
 */
import { hash } from "node:crypto";

import type { Authenticator, Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";

export interface Caller {
  /** The bucket of the API key; null for a session, and for who sends none on an open server. */
  key: string | null;
  /** The user of a session. */
  sessionUser: string | null;
}

interface Known extends Caller {
  /** Then it is asked about again. */
  until: number;
}

/** The headers that can say who somebody is; others, such as the workspace, must not decide about it. */
const CREDENTIAL_HEADERS = ["x-api-key", "authorization", "cookie"] as const;

/** How to find out about a credential, and what an unknown one costs its address. */
export interface Inquiry {
  authenticator: Authenticator;
  method: string;
  ip: string;
  /** Takes one from the address; false when there is none left. */
  spend(): boolean | Promise<boolean>;
  refund(): void | Promise<void>;
}

/** `caller` is null for nobody. `spent`: this request was already counted as nobody's. */
export type Identified = { caller: Caller | null; spent: boolean } | "refused";

export class Callers {
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Identified>>();
  readonly #capacity: number;
  readonly #now: () => number;

  constructor(capacity: number, now: () => number) {
    this.#capacity = capacity;
    this.#now = now;
  }

  /** "refused" when the credential is unknown and the address has nothing left. */
  identify(headers: Headers, inquiry: Inquiry): Identified | Promise<Identified> {
    const credential = credentialOf(headers);
    if (credential === null) {
      // a user without a credential is one only where none is wanted
      return headers.has("x-user-id") ? nobodyUnlessOpen(headers, inquiry) : NOBODY;
    }
    const known = this.#known.get(credential);
    if (known && known.until > this.#now()) return { caller: known, spent: false };
    const asking = this.#asking.get(credential);
    // what the first one spent was not for this request
    if (asking) return asking.then((one) => (one !== "refused" && one.caller ? one : NOBODY));
    const answer = this.#ask(headers, inquiry, credential, known);
    this.#asking.set(credential, answer);
    return answer.finally(() => this.#asking.delete(credential));
  }

  async #ask(headers: Headers, inquiry: Inquiry, credential: string, known: Known | undefined): Promise<Identified> {
    if (!known && !(await inquiry.spend())) return "refused";
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

const NOBODY: Identified = { caller: null, spent: false };

async function nobodyUnlessOpen(headers: Headers, inquiry: Inquiry): Promise<Identified> {
  const caller = await verify(headers, inquiry, null);
  return caller === "unsure" ? NOBODY : { caller, spent: false };
}

const KNOWN_MS = 60_000;

const digest = (text: string): string => hash("sha256", text, "base64url");

/** A key is the same whether it comes in its own header or as a bearer token. Undefined when none was sent. */
export function keyOf(headers: Headers): string | undefined {
  const key = headers.get("x-api-key")?.trim();
  if (key) return key;
  const authorization = headers.get("authorization") || undefined;
  return /^bearer\s+(\S+)\s*$/i.exec(authorization ?? "")?.[1] ?? authorization;
}

/** Null when nothing was sent. */
function credentialOf(headers: Headers): string | null {
  const key = keyOf(headers);
  if (key !== undefined) return keyBucket(key);
  const cookie = headers.get("cookie");
  return cookie ? digest(cookie) : null;
}

/** Null for a credential that opens nothing, "unsure" when that could not be found out. */
async function verify(
  headers: Headers,
  { authenticator, method, ip }: Inquiry,
  credential: string | null,
): Promise<Caller | null | "unsure"> {
  const credentials = new Headers();
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) credentials.set(name, value);
  }
  let principal: Principal;
  try {
    principal = await authenticator.authenticate({ headers: credentials, method, ip, needsWorkspace: false });
  } catch (error) {
    // anything but a clear no is the route's to tell, if there is a route
    return error instanceof AppError && (error.status === 401 || error.status === 403) ? null : "unsure";
  }
  const isSession = principal.actor.kind === "session";
  return { key: isSession ? null : credential, sessionUser: isSession ? (principal.actor.userId ?? "") : null };
}

/** Who the user is: of a session the session's, otherwise whom the header names. Undefined when nobody is named. */
export const userOf = (caller: Caller, headers: Headers): string | undefined =>
  caller.sessionUser ?? (headers.get("x-user-id")?.trim() || undefined);

export const userBucket = (user: string, address: string): string => `${digest(user)}@${address}`;

/** A digest, so that no key is kept in clear. */
export const keyBucket = (key: string): string => digest(key.trim());
