import { hash, randomBytes } from "node:crypto";

const PREFIX = "heddle_session_";
const FORMAT = /^heddle_session_[0-9a-f]{64}$/;

/** A prefix, by which scanners for leaked secrets find it, and 256 random bits. */
export const newSessionToken = (): string => PREFIX + randomBytes(32).toString("hex");

/** Whether this could be a session token; nothing else is looked up. */
export const looksLikeSessionToken = (text: string): boolean => FORMAT.test(text);

/** What is stored, and looked up by: SHA-256 as hex digits, for the reasons that api-keys/key-text.ts gives. */
export const hashSessionToken = (token: string): string => hash("sha256", token, "hex");
