import { hash, randomBytes } from "node:crypto";

const PREFIX = "heddle_session_";
const CSRF_PREFIX = "heddle_csrf_";
const FORMAT = /^heddle_session_[0-9a-f]{64}(?:\.heddle_csrf_[0-9a-f]{64})?$/;
const CSRF_FORMAT = /^heddle_csrf_[0-9a-f]{64}$/;

/** Creates a token: a prefix, which scanners for leaked secrets recognize, and 256 random bits. */
export const newSessionToken = (): string => PREFIX + randomBytes(32).toString("hex");

/** Creates the second part of a browser's session, kept by pages of one origin and sent in a header. */
export const newCsrfToken = (): string => CSRF_PREFIX + randomBytes(32).toString("hex");

/**
 * Joins the parts of a browser's session. Browsers send a cookie to every port of its host, so the cookie alone must
 * grant no access: the session is looked up by both parts together.
 */
export const joinSessionToken = (cookie: string, csrfToken: string): string => `${cookie}.${csrfToken}`;

/** Whether the text has the format of a session token; nothing else is looked up. */
export const looksLikeSessionToken = (text: string): boolean => FORMAT.test(text);

export const looksLikeCsrfToken = (text: string): boolean => CSRF_FORMAT.test(text);

/** Hashes a token for storage and lookup: SHA-256 in hexadecimal, for the reasons given in api-keys/key-text.ts. */
export const hashSessionToken = (token: string): string => hash("sha256", token, "hex");
