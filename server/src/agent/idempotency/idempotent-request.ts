/**
 * `Idempotency-Key`: a repeated request that creates a run gets the existing run. The key reserves ids before the run
 * is created; the run's own insertion marks the key, in the same transaction, by a trigger (migration 0034). So a key
 * never has two runs, whatever fails in between: a retry that finds reserved ids without a run creates the run with
 * these ids.
 */
import { createHash } from "node:crypto";

import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError, conflict, unprocessable } from "../../base/errors.ts";
import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { type KeyPart, releaseKey, type Reserved, reserveKey } from "./sql.ts";

const key = z.string().regex(/^[\x20-\x7e]{1,255}$/);

/** The header, for route declarations. */
export const idempotencyHeader = z.object({
  "Idempotency-Key": key
    .optional()
    .describe("Identifies the request for 24 hours: a repetition with the same body returns the run of the first one."),
});

/** Key and fingerprint of a request that creates one run. */
export interface IdempotentRequest extends KeyPart {
  fingerprint: string;
}

/**
 * Reads the request's key.
 * @param operation the operation: different operations never share a run, even with equal bodies
 * @param body the parsed request body
 * @returns undefined when the request has no key
 * @throws 422 for an invalid key
 */
export function readOnce(
  headers: Headers,
  principal: Principal,
  operation: string,
  body: unknown,
): IdempotentRequest | undefined {
  const header = headers.get("idempotency-key");
  if (header === null) return undefined;
  if (!key.safeParse(header).success) {
    throw unprocessable("Idempotency-Key must be 1 to 255 characters of printable ASCII.");
  }
  const { actor, workspaceId } = principal;
  const fingerprint = createHash("sha256")
    .update(`${operation}\n${canonical(body)}`)
    .digest("base64url");
  return { scope: `${workspaceId}/${actor.kind}/${actor.id}`, key: header, part: 0, fingerprint };
}

/** Serializes with sorted keys, so that the order of an object's keys makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, nested: unknown) =>
    nested !== null && typeof nested === "object" && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : nested,
  );
}

/**
 * Reserves the run's ids, or returns those reserved before.
 * @throws 422 when the key belongs to another request
 */
export async function reserve(
  sql: Sql,
  once: IdempotentRequest,
  threadId: string | null,
  hours: number,
): Promise<Reserved> {
  const { fingerprint } = once;
  const reserved = await reserveKey(sql, once, { fingerprint, run_id: uuid7(), thread_id: threadId ?? uuid7() }, hours);
  if (reserved.fingerprint === fingerprint) return reserved;
  throw unprocessable("This Idempotency-Key was used for another request. Use a new key for each operation and body.");
}

/** Mark in a run's kwargs, which its insertion reads and removes. */
export const reservationMark = ({ scope, key, part, fingerprint }: IdempotentRequest): object => ({
  __idempotency: { scope, key, part, fingerprint },
});

/** Creates the run under its key. A rejected request releases the key. */
export async function createOnce<T>(
  sql: Sql,
  once: IdempotentRequest,
  runId: string,
  create: () => Promise<T>,
): Promise<T> {
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

/** Response to the first request, for a run that has ended and was deleted at its end. */
export function serializeReservedRun({ run }: Reserved, kwargs: object): string {
  const fields = ["run_id", "thread_id", "assistant_id", "created_at", "updated_at", "status", "metadata"];
  const more = ["multitask_strategy", "error", "cancel_reason", "discarded_interrupts"];
  const wire = Object.fromEntries([...fields, ...more].map((name) => [name, run?.[name] ?? null]));
  return JSON.stringify({ ...wire, kwargs });
}
