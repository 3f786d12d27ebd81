/**
 * `Idempotency-Key`: a request that creates a run and is sent again gets the run that it has. The key reserves ids
 * ahead of the run; the run's own insertion marks it, in one transaction, by a trigger (migration 0034). So whatever
 * dies in between, a key never has two runs: a retry that finds ids without a run makes the run with these ids.
 */
import { createHash } from "node:crypto";

import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError, conflict, unprocessable } from "../../base/errors.ts";
import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { type KeyPart, releaseKey, type Reserved, reserveKey } from "./sql.ts";

const key = z.string().regex(/^[\x20-\x7e]{1,255}$/);

/** The header, as routes declare it. */
export const idempotencyHeader = z.object({
  "Idempotency-Key": key
    .optional()
    .describe("Names the request: sent again with the same body, it gets the run that it has. For 24 hours."),
});

/** One run that a request asks for, and under which key. */
export interface Once extends KeyPart {
  fingerprint: string;
}

/**
 * @param what the operation: two of them do not share a run, whatever their bodies say
 * @param body of the request, as it was parsed
 * @returns undefined when the request names no key
 * @throws 422 for a key that is none
 */
export function readOnce(headers: Headers, principal: Principal, what: string, body: unknown): Once | undefined {
  const given = headers.get("idempotency-key");
  if (given === null) return undefined;
  if (!key.safeParse(given).success) {
    throw unprocessable("Idempotency-Key must be 1 to 255 characters of printable ASCII.");
  }
  const { actor, workspaceId } = principal;
  const fingerprint = createHash("sha256")
    .update(`${what}\n${canonical(body)}`)
    .digest("base64url");
  return { scope: `${workspaceId}/${actor.kind}/${actor.id}`, key: given, part: 0, fingerprint };
}

/** The order of an object's keys says nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one !== null && typeof one === "object" && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** The ids that the run has, or is to have. @throws 422 when the key is another request's */
export async function reserve(sql: Sql, once: Once, threadId: string | null, hours: number): Promise<Reserved> {
  const { fingerprint } = once;
  const reserved = await reserveKey(sql, once, { fingerprint, run_id: uuid7(), thread_id: threadId ?? uuid7() }, hours);
  if (reserved.fingerprint === fingerprint) return reserved;
  throw unprocessable("This Idempotency-Key was used for another request: it stands for one operation and one body.");
}

/** What the run's insertion finds in its kwargs, and takes out. */
export const markOf = ({ scope, key, part, fingerprint }: Once): object => ({
  __idempotency: { scope, key, part, fingerprint },
});

/** Creates the run under its key. What is refused leaves the key free. */
export async function createOnce<T>(sql: Sql, once: Once, runId: string, create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (error instanceof AppError) await releaseKey(sql, once, runId);
    if ((error as { constraint_name?: string }).constraint_name === "idempotency_keys_pkey") {
      throw conflict("Another request with this Idempotency-Key is being processed.");
    }
    throw error;
  }
}

/** The answer to the first request, for a run that has ended and was deleted with its end. */
export function wireOf({ run }: Reserved, kwargs: object): string {
  const fields = ["run_id", "thread_id", "assistant_id", "created_at", "updated_at", "status", "metadata"];
  const more = ["multitask_strategy", "error", "cancel_reason", "discarded_interrupts"];
  const wire = Object.fromEntries([...fields, ...more].map((name) => [name, run?.[name] ?? null]));
  return JSON.stringify({ ...wire, kwargs });
}
