import type { Context } from "hono";

import { AppError } from "../errors.ts";

/**
 * Parses the request's JSON. No body, or one that does not claim to be JSON or text, counts as `{}`, as on the
 * reference server (contract §1.1); `text/plain` is parsed as JSON for clients that avoid a preflight.
 */
export async function readJson(c: Context): Promise<unknown> {
  const type = c.req.header("content-type") ?? "";
  if (type !== "" && !/json|^text\/plain/i.test(type)) return {};
  const text = await c.req.text().catch((error: unknown) => {
    // the client disconnected or was too slow: not an internal error
    if (c.req.raw.signal.aborted || (error as { code?: unknown }).code === "ECONNRESET") throw incomplete();
    throw error;
  });
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const issues = [{ type: "json_invalid", loc: ["body", 0], msg: "JSON decode error" }];
    throw new AppError(400, "Malformed JSON in request body", { issues, pythonStatus: 422 });
  }
  if (text.length > 2 * MAX_DEPTH && isDeeperThan(value, MAX_DEPTH)) {
    throw new AppError(422, `The request body is nested more than ${MAX_DEPTH} levels deep.`);
  }
  return UNSTORABLE.test(text) ? cleanStrings(value) : value;
}

const incomplete = () => new AppError(400, "The request body did not arrive completely.");

/**
 * JSON is parsed to any depth, but serialized, walked and stored recursively, which fails beyond some thousand levels.
 */
const MAX_DEPTH = 1000;

function isDeeperThan(root: unknown, max: number): boolean {
  let level = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) return true;
    level = level.flatMap((value) => (value !== null && typeof value === "object" ? Object.values(value) : []));
  }
  return false;
}

/** Matches JSON text that may hold what Postgres rejects in jsonb: a null character or half of a surrogate pair. */
const UNSTORABLE = /\\u0000|\\u[dD][89a-fA-F]|[\uD800-\uDFFF]/;

/** Replaces both by U+FFFD in every string and key (contract T-corpus: "null bytes in JSON"). */
export function cleanStrings(value: unknown): unknown {
  if (typeof value === "string") return cleanString(value);
  if (Array.isArray(value)) return value.map(cleanStrings);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, nested]) => [cleanString(key), cleanStrings(nested)]));
  }
  return value;
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

function cleanString(text: string): string {
  return text.replaceAll("\0", "\uFFFD").replace(LONE_SURROGATE, "\uFFFD");
}
