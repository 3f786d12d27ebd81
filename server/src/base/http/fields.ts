import { z } from "zod";

/** Fields that occur in many requests. Bounds are part of the contract: what is outside gets 422, never 500. */

/** Lower case, because ids are also compared as text. Any version of UUID, also the nil one. */
export const uuid = z.guid("must be a UUID").toLowerCase();

export const jsonObject = z.record(z.string(), z.unknown());

export const limit = (byDefault: number, max = 1000) =>
  z
    .int()
    .min(1)
    .max(max)
    .nullish()
    .transform((n) => n ?? byDefault);

export const offset = z
  .int()
  .min(0)
  .max(2_147_483_647)
  .nullish()
  .transform((n) => n ?? 0);

/** A number in a query string. */
const digits = z
  .string()
  .regex(/^\d{1,10}$/, "must be a whole number")
  .transform(Number);

export const queryLimit = (byDefault: number, max = 1000) =>
  digits
    .pipe(z.int().min(1).max(max))
    .optional()
    .transform((n) => n ?? byDefault);

export const queryOffset = digits
  .pipe(z.int().min(0).max(2_147_483_647))
  .optional()
  .transform((n) => n ?? 0);

/** `true`, `1` and `yes` are true, all else is false (contract §6). */
export const queryFlag = z
  .string()
  .optional()
  .transform((text) => /^(true|1|yes)$/i.test(text ?? ""));

/**
 * A documented field that is not built yet. It is refused by name rather than dropped: a caller who asks for
 * something must not believe to have got it.
 */
export const notBuilt = (name: string) => z.null(`"${name}" is not supported yet; leave it out`).optional();

/** Text that Postgres can hold. */
export const storableText = z.string().refine((text) => !text.includes("\0"), "must not contain null characters");
