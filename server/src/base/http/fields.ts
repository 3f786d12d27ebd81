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

/** A time to live, or a pause, in minutes: up to a hundred years, which dates in Postgres bear. */
export const minutes = z.number().positive().max(52_560_000);

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

/** The same of a query parameter. */
export const queryNotBuilt = (name: string) => z.undefined(`"${name}" is not supported yet; leave it out`).optional();

/** The same of one that is true or false, where false is what happens anyway. */
export const queryFalse = (name: string) =>
  z.enum(["false", "False", "0"], `"${name}" is not supported yet; leave it out`).optional();

/** Text that Postgres can hold. */
export const storableText = z.string().refine((text) => !text.includes("\0"), "must not contain null characters");

/** Query parameters come as text; several of one name are a list. This is a list always. */
export const queryMany = <T extends z.ZodType<string, string>>(item: T, max = 1000) =>
  z
    .union([item, z.array(item).max(max)])
    .optional()
    .transform((given) => (given === undefined ? undefined : ([given].flat() as string[])));

/** `true` or `false` in a query string, where leaving it out means neither. */
export const queryBoolean = z
  .enum(["true", "false", "True", "False", "1", "0"], "must be true or false")
  .optional()
  .transform((text) => (text === undefined ? undefined : /^(true|1)$/i.test(text)));

const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?$/i;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** Postgres knows no zones further away. */
const FARTHEST_ZONE_HOURS = 15;

/** In the one spelling that Date, Postgres and ClickHouse all read; undefined where there is no such time. */
function isoTimeOf(text: string): string | undefined {
  const match = ISO_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction, zone, zoneMinutes = "00"] = match;
  // Date carries the 30th of February over into March, and 24:00 into the next day; leap seconds it knows none
  const lastDay = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(day) > lastDay || Number(hour) > 23) return undefined;
  if (zone !== undefined && Math.abs(Number(zone)) > FARTHEST_ZONE_HOURS) return undefined;
  const clock = `${hour}:${minute}:${second}${fraction === undefined ? "" : `.${fraction}`}`;
  const canonical = `${year}-${month}-${day}T${clock}${zone === undefined ? "Z" : `${zone}:${zoneMinutes}`}`;
  const ms = Date.parse(canonical);
  return ms >= FIRST_MS && ms <= LAST_MS ? canonical : undefined;
}

/** A time as ISO 8601; without a zone it is UTC. It stays text, because a Date would lose the microseconds. */
export const isoTime = z
  .string()
  .refine((text) => isoTimeOf(text) !== undefined, "must be an ISO 8601 time")
  .transform((text) => isoTimeOf(text)!);

/** A time as ISO 8601 or as milliseconds since 1970 (contract trace-platform §0.5). Becomes ISO text. */
export const timestamp = z.union([
  isoTime,
  z
    .number()
    .min(0)
    .max(253_402_300_799_999)
    .transform((ms) => new Date(ms).toISOString()),
]);
