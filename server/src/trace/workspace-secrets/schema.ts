import { z } from "zod";

export const MAX_SECRETS = 100;
/** Characters of a value. */
const MAX_VALUE = 16_384;

export const secretKey = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/, "must be 1 to 128 letters, digits, _ . -, and begin with a letter or _");

export const secretValue = z
  .string()
  .min(1)
  .max(MAX_VALUE)
  // a value becomes a header of requests to the provider
  .refine((text) => !/[\0\r\n]/.test(text), "must be one line without null characters");

/** A null value deletes the secret. */
const secretUpsert = z
  .object({
    key: secretKey,
    value: secretValue.nullable(),
  })
  .meta({ id: "SecretUpsert" });

export const upsertBody = z.array(secretUpsert).min(1).max(MAX_SECRETS);

export const secretName = z.object({ key: z.string() }).meta({ id: "SecretKey" });

export type SecretUpsert = z.output<typeof secretUpsert>;
