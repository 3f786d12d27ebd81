import type { Context } from "hono";

import { AppError } from "../errors.ts";
import { SMALL_JSON } from "../json-structure.ts";
import { INCOMPLETE } from "./errors.ts";
import { countBody, decodeBody } from "./hold-body.ts";

/**
 * Parses the request's JSON. No body, or one that does not claim to be JSON or text, counts as `{}`, as on the
 * reference server; `text/plain` is parsed as JSON for clients that avoid a preflight.
 * With `keepsText`, `bodyText` returns the text.
 */
export async function readJson(c: Context, keepsText = false): Promise<unknown> {
  const type = c.req.header("content-type") ?? "";
  if (type !== "" && !/json|^text\/plain/i.test(type)) return {};
  return decodeBody(c, async (text) => {
    if (text.trim() === "") return {};
    if (text.length > SMALL_JSON) await countBody(c, text);
    const value = parse(text);
    if (keepsText) c.set(TEXT, text);
    return UNSTORABLE.test(text) ? cleanStrings(value) : value;
  }).catch((error: unknown) => {
    // the client disconnected or was too slow: not an internal error
    if (c.req.raw.signal.aborted || (error as { code?: unknown }).code === "ECONNRESET") throw incomplete();
    throw error;
  });
}

const TEXT = "heddle.bodyText";

/** Returns the text of a JSON body, of a route that declares `keepsText`. Valid JSON. */
export const bodyText = (c: Context): string => (c.get(TEXT) as string | undefined) ?? "{}";

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const issues = [{ type: "json_invalid", loc: ["body", 0], msg: "JSON decode error" }];
    throw new AppError(400, "Malformed JSON in request body", { issues, pythonStatus: 422 });
  }
}

const incomplete = () => new AppError(400, INCOMPLETE);

/** Matches JSON text that may hold what Postgres rejects in jsonb: a null character or half of a surrogate pair. */
const UNSTORABLE = /\\u0000|\\u[dD][89a-fA-F]|[\uD800-\uDFFF]/;

/**
 * Replaces both by U+FFFD in every string and key (contract T-corpus: "null bytes in JSON"). Changes lists and objects
 * in place: a copy of a large body would take its memory once more.
 */
export function cleanStrings(value: unknown): unknown {
  if (typeof value === "string") return cleanString(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = cleanStrings(value[i]);
    return value;
  }
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  // a new object keeps the order of the keys
  const isUnclean = keys.some((key) => cleanString(key) !== key);
  const target: Record<string, unknown> = isUnclean ? {} : object;
  for (const key of keys) define(target, cleanString(key), cleanStrings(object[key]));
  return target;
}

/** Sets an own property; an assignment to `__proto__` would change the prototype. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

function cleanString(text: string): string {
  return text.replaceAll("\0", "\uFFFD").replace(LONE_SURROGATE, "\uFFFD");
}
